// Reads a ReAct reply: an action, an answer, or neither. Lenient in form, strict in that something must be decided.
import { isObject, parseJson } from "../../base/json.ts";
import type { RequestedCall } from "../../models/reply.ts";
import type { Reading } from "../ports/driver.ts";

// A mark is looked for behind blanks of its own line alone: across lines, a reply of blank lines would take the square of its
// length.

/** What a reply decided. One that decided nothing readable becomes a correction. */
export function readDecision(reply: string): Reading {
  const text = reply.split(/^[^\S\r\n\u2028\u2029]*Observation\s*:/m, 1)[0] ?? "";
  const answer = /^[^\S\r\n\u2028\u2029]*Final Answer\s*:\s*([\s\S]*)$/im.exec(text);
  const action = /^[^\S\r\n\u2028\u2029]*Action\s*:\s*(.+)$/im.exec(text);
  if (action !== null && (answer === null || action.index < answer.index)) return readAction(text, action);
  if (answer !== null) return { text: (answer[1] ?? "").trim(), calls: [] };
  return readJson(text) ?? readPlain(text);
}

function readAction(text: string, action: RegExpExecArray): Reading {
  const thought = thoughtOf(text.slice(0, action.index));
  const named = (action[1] ?? "").trim().replace(/^[`"'[]|[`"'\]]$/g, "");
  const inline = /^([A-Za-z0-9_-]+)\s*[([]\s*(\{[\s\S]*\})\s*[)\]]$/.exec(named);
  if (inline !== null) return { text: thought, calls: [call(inline[1] ?? "", inline[2] ?? "")] };
  const input = /^[^\S\r\n\u2028\u2029]*Action Input\s*:\s*([\s\S]*)$/im.exec(text.slice(action.index));
  return { text: thought, calls: [call(named, unfenced(input?.[1] ?? "{}"))] };
}

// `{"action": "search", "input": {…}}` or `{"answer": "…"}`, as some models insist.
function readJson(text: string): Reading | undefined {
  const value = parseJson(unfenced(text));
  if (!isObject(value)) return undefined;
  const { thought, action, answer, final_answer } = value;
  const said = typeof thought === "string" ? thought : "";
  if (typeof action === "string") {
    const input = value.action_input ?? value.input ?? {};
    return { text: said, calls: [call(action, typeof input === "string" ? input : JSON.stringify(input))] };
  }
  const final = answer ?? final_answer;
  return final === undefined
    ? undefined
    : { text: typeof final === "string" ? final : JSON.stringify(final), calls: [] };
}

// Plain prose is an answer; a thought that leads nowhere, and nothing at all, are not.
function readPlain(text: string): Reading {
  const isUndecided = text.trim() === "" || /^[^\S\r\n\u2028\u2029]*(Thought|Action Input)\s*:/im.test(text);
  if (!isUndecided) return { text: text.trim(), calls: [] };
  const message =
    'Your reply has neither "Action:" nor "Final Answer:". Reply with a thought and an action with its input as JSON, or with a final answer.';
  return { text: text.trim(), calls: [], correction: { reason: "unreadable-decision", message } };
}

function thoughtOf(text: string): string {
  return text.replace(/^[^\S\r\n\u2028\u2029]*Thought\s*:/im, "").trim();
}

function call(toolName: string, input: string): RequestedCall {
  return { toolCallId: "", toolName, inputText: input.trim() };
}

// By index, not by one expression: a fence that is never closed must not be searched for again from every place.
function unfenced(text: string): string {
  const body = text.slice(/^\s*```\w*/.exec(text)?.[0].length ?? text.length);
  const end = body.indexOf("```");
  return (end === -1 ? text : body.slice(0, end)).trim();
}
