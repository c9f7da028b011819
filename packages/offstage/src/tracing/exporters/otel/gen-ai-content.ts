// Translates messages to the GenAI conventions: a role and typed parts. Pure; accepts any input.
import { isObject, type JsonObject, type JsonValue, parseJson } from "../../../base/json.ts";
import { finishReasons } from "./gen-ai-names.ts";

/** One of our messages as `{ role, parts }`. */
export function messageParts(message: JsonValue): JsonObject {
  if (!isObject(message)) return { role: "unknown", parts: [] };
  const { role, content, tool_call_id: id, tool_calls: calls } = message as JsonObject;
  if (role === "tool") return { role, parts: [{ type: "tool_call_response", id, response: content ?? null }] };
  const called = Array.isArray(calls) ? calls.map(callPart) : [];
  return { role, parts: [...textParts(content), ...called] };
}

/** The answer of a model, as one assistant message. */
export function outputMessage({ text, toolCalls, finishReason }: JsonObject): JsonObject {
  const called = Array.isArray(toolCalls) ? toolCalls.map(callPart) : [];
  const reason = typeof finishReason === "string" ? finishReason : "error";
  return {
    role: "assistant",
    parts: [...textParts(text), ...called],
    finish_reason: finishReasons[reason] ?? reason,
  };
}

function textParts(content: JsonValue | undefined): JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", content }];
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).map((part) => {
    const { type, text, ...rest } = part as JsonObject;
    return type === "text" ? { type, content: text } : { type, ...rest };
  });
}

// A call is either in chat form, with its function inside, or flat as `{ toolCallId, toolName, inputText }`.
function callPart(call: JsonValue): JsonObject {
  if (!isObject(call)) return { type: "tool_call" };
  const { id, function: called, toolCallId, toolName, inputText } = call as JsonObject;
  const { name, arguments: given } = isObject(called)
    ? (called as JsonObject)
    : { name: toolName, arguments: inputText };
  const parsed = typeof given === "string" ? (parseJson(given) ?? given) : given;
  return { type: "tool_call", id: id ?? toolCallId, name, arguments: parsed };
}
