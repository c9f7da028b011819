// Parses a ReAct reply into an action or an answer. Lenient about the form; a reply with neither becomes a correction.
import { isObject, parseJson } from "../../base/json.ts";
import type { RequestedCall } from "../../models/reply.ts";
import type { Reading } from "../ports/driver.ts";

// The patterns allow only spaces of the same line before a marker. With line breaks, a reply of blank lines would take quadratic time.

/** Parses a reply. One without an action or an answer becomes a correction. */
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
  const name = (action[1] ?? "").trim().replace(/^[`"'[]|[`"'\]]$/g, "");
  const inline = /^([A-Za-z0-9_-]+)\s*[([]\s*(\{[\s\S]*\})\s*[)\]]$/.exec(name);
  if (inline !== null) return { text: thought, calls: [call(inline[1] ?? "", inline[2] ?? "")] };
  const input = /^[^\S\r\n\u2028\u2029]*Action Input\s*:\s*([\s\S]*)$/im.exec(text.slice(action.index));
  return { text: thought, calls: [call(name, stripFence(input?.[1] ?? "{}"))] };
}

// Some models insist on `{"action": "search", "input": {…}}` or `{"answer": "…"}`.
function readJson(text: string): Reading | undefined {
  const value = parseJson(stripFence(text));
  if (!isObject(value)) return undefined;
  const { thought, action, answer, final_answer } = value;
  if (typeof action === "string") {
    const input = value.action_input ?? value.input ?? {};
    return { text: typeof thought === "string" ? thought : "", calls: [call(action, asText(input))] };
  }
  const final = answer ?? final_answer;
  return final === undefined ? undefined : { text: asText(final), calls: [] };
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

// Plain prose is an answer; an empty reply, or a thought without an action, is not.
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

// Searches for the closing fence once. A single regular expression would search again from every position if there is none.
function stripFence(text: string): string {
  const body = text.slice(/^\s*```\w*/.exec(text)?.[0].length ?? text.length);
  const end = body.indexOf("```");
  return (end === -1 ? text : body.slice(0, end)).trim();
}
