// The protocol "events": our own events as they are, for any client that reads server-sent events. Other protocols accept its
// bodies too.
import { isObject, type JsonValue } from "../../base/json.ts";
import type { PostedAction, PostedDecision, Protocol } from "./protocol.ts";
import { lastOf, readOptionalText, readText, readUserMessage } from "./read-message.ts";
import { badRequest } from "./refused-request.ts";

export const events: Protocol = {
  headers: {},
  closing: "",
  encoder: () => (event) => [event],
  read(body) {
    const sessionId = readText(body.id ?? body.sessionId, "id");
    const action = readOwnAction(body) ?? { type: "message", message: readUserMessage(lastOf(body.messages)) };
    return { sessionId, action };
  },
  conversation: (messages) => messages,
};

/** `{ message }`, `{ regenerate: true }`, or `{ approve, reject, answers }`; undefined if the body has none of them. */
export function readOwnAction(body: Record<string, unknown>): PostedAction | undefined {
  const decided = isObject(body.decisions) ? body.decisions : body;
  const { approve, reject, answers } = decided;
  const runId = readOptionalText(body.runId ?? body.messageId);
  if (approve !== undefined || reject !== undefined || answers !== undefined) {
    const decisions = [
      ...listOf(approve).map(readApproval),
      ...listOf(reject).map(readRejection),
      ...listOf(answers).map(readAnswer),
    ];
    return { type: "decisions", decisions, runId };
  }
  if (body.regenerate === true) return { type: "regenerate", runId };
  return body.message === undefined ? undefined : { type: "message", message: readUserMessage(body.message) };
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw badRequest("Decisions must be lists.");
  return value;
}

function callOf(value: unknown): { fields: Record<string, unknown>; toolCallId: string } {
  const fields = isObject(value) ? value : { toolCallId: value };
  return { fields, toolCallId: readText(fields.toolCallId, "toolCallId") };
}

function readApproval(value: unknown): PostedDecision {
  const { fields, toolCallId } = callOf(value);
  return { toolCallId, approve: true, ...(fields.input !== undefined && { input: fields.input as JsonValue }) };
}

function readRejection(value: unknown): PostedDecision {
  const { fields, toolCallId } = callOf(value);
  return { toolCallId, reject: true, reason: readOptionalText(fields.reason) };
}

function readAnswer(value: unknown): PostedDecision {
  const { fields, toolCallId } = callOf(value);
  if (fields.declined === true) return { toolCallId, reject: true };
  if (fields.value === undefined) throw badRequest("An answer needs a value, or declined: true.");
  return { toolCallId, answer: fields.value as JsonValue };
}
