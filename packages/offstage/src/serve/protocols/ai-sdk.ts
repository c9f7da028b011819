// The protocol "ai-sdk": the UI message stream that `useChat` and `DefaultChatTransport` of the package "ai" read and post to.
import { isObject, type JsonValue } from "../../base/json.ts";
import { readOwnAction } from "./events.ts";
import type { Posted, PostedAction, PostedDecision, Protocol } from "./protocol.ts";
import { lastOf, readOptionalText, readText, readUserMessage } from "./read-message.ts";
import { badRequest } from "./refused-request.ts";
import { UiChunkWriter } from "./ui-chunks.ts";

export const aiSdk: Protocol = {
  headers: { "x-vercel-ai-ui-message-stream": "v1" },
  closing: "data: [DONE]\n\n",
  encoder() {
    const writer = new UiChunkWriter();
    return (event) => writer.write(event);
  },
  read(body): Posted {
    return { sessionId: readText(body.id, "id"), action: readOwnAction(body) ?? readAction(body) };
  },
  conversation: (messages) => messages,
};

// `messageId` names the message that is decided about, regenerated or edited.
function readAction(body: Record<string, unknown>): PostedAction {
  const { trigger = "submit-message", messages } = body;
  const messageId = readOptionalText(body.messageId);
  if (trigger === "regenerate-message") return { type: "regenerate", runId: messageId };
  if (trigger !== "submit-message") throw badRequest(`Unknown trigger "${String(trigger)}".`);
  const named = Array.isArray(messages) ? messages.find((each) => isObject(each) && each.id === messageId) : undefined;
  const message: Record<string, unknown> = messageId === undefined || named === undefined ? lastOf(messages) : named;
  if (message.role === "assistant") {
    const decisions = (Array.isArray(message.parts) ? message.parts : []).flatMap(readDecision);
    return { type: "decisions", decisions, runId: readOptionalText(message.id) };
  }
  if (messageId !== undefined && message.id === messageId)
    throw badRequest("A message that was sent cannot be edited: the conversation is kept on the server.");
  return { type: "message", message: readUserMessage(message) };
}

// An approval that was answered, or the output that a client gave to a question.
function readDecision(part: unknown): PostedDecision[] {
  if (!isObject(part) || typeof part.toolCallId !== "string") return [];
  const { toolCallId, state, approval, output } = part;
  if (state === "approval-responded" && isObject(approval)) {
    if (approval.approved === true) return [{ toolCallId, approve: true }];
    return [{ toolCallId, reject: true, reason: readOptionalText(approval.reason) }];
  }
  return state === "output-available" && output !== undefined ? [{ toolCallId, answer: output as JsonValue }] : [];
}
