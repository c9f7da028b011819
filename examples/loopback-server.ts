// A server on this machine that speaks the chat-completions protocol, so that lesson 8 can use a real provider package
// without a key. It calls the first tool it is offered, then repeats the tool's result.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface ChatRequest {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Starts the server on a free port. `input` is what it gives the tool it calls. */
export async function startLoopbackServer(input: object): Promise<{ baseURL: string; close(): void }> {
  const server = createServer((request, response) => void answer(request, response, input));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return { baseURL: `http://127.0.0.1:${port}/v1`, close: () => void server.close() };
}

async function answer(request: IncomingMessage, response: ServerResponse, input: object): Promise<void> {
  const body = JSON.parse(await text(request)) as ChatRequest;
  const message = replyTo(body, input);
  const finish_reason = "tool_calls" in message ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 42, completion_tokens: 12, total_tokens: 54 };
  const about = { id: "loopback", created: 0, model: "loopback" };
  if (!body.stream) {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...about, choices: [{ index: 0, message, finish_reason }], usage }));
    return;
  }
  response.setHeader("content-type", "text/event-stream");
  const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...about, ...chunk })}\n\n`);
  for (const delta of deltasOf(message)) send({ choices: [{ index: 0, delta, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason }], usage });
  response.end("data: [DONE]\n\n");
}

function replyTo({ messages, tools = [] }: ChatRequest, input: object) {
  const last = messages.at(-1);
  const [tool] = tools;
  if (last?.role === "tool" || tool === undefined)
    return { role: "assistant", content: `The tool says: ${last?.content}` };
  const call = { name: tool.function.name, arguments: JSON.stringify(input) };
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }],
  };
}

function deltasOf(message: ReturnType<typeof replyTo>): object[] {
  if (message.content === null) return [message];
  return message.content.split(/(?<= )/).map((content) => ({ role: "assistant", content }));
}
