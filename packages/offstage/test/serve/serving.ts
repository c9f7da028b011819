// Helpers for tests of offstage/serve: requests, readers of responses, and the official reader of the AI SDK.
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import type { FetchHandler } from "../../src/doors/serve.ts";

const base = "http://app.test/api/chat";

export function post(chat: FetchHandler, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  return chat(new Request(base, { ...init, body: typeof body === "string" ? body : JSON.stringify(body) }));
}

export function get(chat: FetchHandler, path: string): Promise<Response> {
  return chat(new Request(`${base}/${path}`));
}

export function stop(chat: FetchHandler, sessionId: string): Promise<Response> {
  return chat(new Request(`${base}/${sessionId}/stream`, { method: "DELETE" }));
}

/** The conversation as a client loads it. */
export async function conversation(
  chat: FetchHandler,
  sessionId: string,
): Promise<[UIMessage, UIMessage, ...UIMessage[]]> {
  return (await get(chat, sessionId)).json() as Promise<[UIMessage, UIMessage]>;
}

/** What `useChat` posts for a new message. */
export function said(id: string, text: string): object {
  const message = { id: "client-1", role: "user", parts: [{ type: "text", text }] };
  return { id, messages: [message], trigger: "submit-message" };
}

/** What `useChat` posts after `addToolApprovalResponse`. */
export function decided(id: string, message: UIMessage, approved: boolean | ((name: string) => boolean)): object {
  const parts = message.parts.map((part) => {
    if (!("approval" in part) || part.state !== "approval-requested") return part;
    const isApproved = typeof approved === "boolean" ? approved : approved(part.type.slice("tool-".length));
    return { ...part, state: "approval-responded", approval: { ...part.approval, approved: isApproved } };
  });
  return { id, messages: [{ ...message, parts }], trigger: "submit-message", messageId: message.id };
}

/** The JSON of each server-sent event. Reads `most` of them at most, and then cuts the connection. */
export async function chunksOf<T = UIMessageChunk>(response: Response, most = Number.POSITIVE_INFINITY): Promise<T[]> {
  const chunks: T[] = [];
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (chunks.length < most) {
    const { done, value } = await reader.read();
    if (done) return chunks;
    text += value;
    const events = text.split("\n\n");
    text = events.pop() as string;
    for (const event of events)
      if (event.startsWith("data: ") && event !== "data: [DONE]") chunks.push(JSON.parse(event.slice(6)) as T);
  }
  await reader.cancel();
  return chunks.slice(0, most);
}

/** The message that the AI SDK makes of chunks. Rejects as the AI SDK does if it cannot read them. */
export async function readMessage(chunks: readonly UIMessageChunk[], before?: UIMessage): Promise<UIMessage> {
  const stream = ReadableStream.from(chunks) as ReadableStream<UIMessageChunk>;
  let last: UIMessage | undefined = before;
  const options = { stream, terminateOnError: true, ...(before && { message: before }) };
  for await (const message of readUIMessageStream(options)) last = message;
  return last as UIMessage;
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** The texts of a message, in order. */
export function textsOf(message: UIMessage): string[] {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

/** A message without ids that differ between runs. */
export function shape(message: unknown): unknown {
  const text = JSON.stringify(message).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "run");
  return JSON.parse(text.replace(/run:\w{9}"/g, 'run:call"'));
}
