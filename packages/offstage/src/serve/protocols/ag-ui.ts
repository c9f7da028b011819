// The protocol "ag-ui": what `HttpAgent` of "@ag-ui/client" posts and reads. A thread is a session.
import { isObject, type JsonValue } from "../../base/json.ts";
import type { ServedMessage, ServedToolPart } from "../telling/served-event.ts";
import { AgUiWriter } from "./ag-ui-events.ts";
import { readOwnAction } from "./events.ts";
import type { Posted, PostedDecision, Protocol } from "./protocol.ts";
import { lastOf, readOptionalText, readText, readUserMessage } from "./read-message.ts";
import { badRequest } from "./refused-request.ts";

export const agUi: Protocol = {
  headers: {},
  closing: "",
  encoder({ sessionId, requestId }) {
    const writer = new AgUiWriter({ threadId: sessionId, runId: requestId });
    return (event) => writer.write(event);
  },
  read(body): Posted {
    const { resume, messages, runId: requestId } = body;
    const place = { sessionId: readText(body.threadId, "threadId"), requestId: readOptionalText(requestId) };
    if (Array.isArray(resume) && resume.length > 0)
      return { ...place, action: { type: "decisions", decisions: resume.map(readEntry), runId: undefined } };
    const own = readOwnAction({ ...body, runId: undefined });
    return { ...place, action: own ?? { type: "message", message: readUserMessage(lastOf(messages)) } };
  },
  conversation: (messages) => messages.map(toAgUiMessage),
};

// { interruptId, status: "resolved" | "cancelled", payload }. A call runs only if the payload says `approved: true`.
function readEntry(entry: unknown): PostedDecision {
  if (!isObject(entry)) throw badRequest("A resume entry must be an object.");
  const { status, payload } = entry;
  const toolCallId = readText(entry.interruptId, "interruptId");
  if (status !== "resolved" || payload === undefined) return { toolCallId, reject: true };
  if (!isObject(payload) || typeof payload.approved !== "boolean") return { toolCallId, answer: payload as JsonValue };
  if (!payload.approved) return { toolCallId, reject: true, reason: readOptionalText(payload.reason) };
  const input = payload.editedArgs as JsonValue | undefined;
  return { toolCallId, approve: true, ...(input !== undefined && { input }) };
}

function toAgUiMessage({ id, role, parts, metadata }: ServedMessage): object {
  const calls = parts.filter((part): part is ServedToolPart => part.type.startsWith("tool-"));
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const files = parts.filter((part) => part.type === "file");
  if (role === "user" && files.length > 0) return { id, role, content: parts.map(toAgUiPart) };
  const toolCalls = calls.map(({ type, toolCallId, input }) => ({
    id: toolCallId,
    type: "function",
    function: { name: type.slice("tool-".length), arguments: JSON.stringify(input) },
  }));
  const content = texts.join("\n\n");
  return { id, role, content, ...(toolCalls.length > 0 && { toolCalls }), ...(metadata && { metadata }) };
}

function toAgUiPart(part: ServedMessage["parts"][number]): object {
  if (part.type !== "file") return part;
  const { mediaType, url } = part as { mediaType: string; url: string };
  const [kind = ""] = mediaType.split("/");
  const type = ["image", "audio", "video"].includes(kind) ? kind : "document";
  return { type, source: { type: "url", value: url, mimeType: mediaType } };
}
