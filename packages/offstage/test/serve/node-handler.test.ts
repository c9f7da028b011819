// serve() behind node:http, with the transport that `useChat` uses.
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { type FetchHandler, type NodeHandler, nodeHandler, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { textsOf } from "./serving.ts";

async function listen(handler: NodeHandler): Promise<string> {
  const server: Server = createServer((incoming, outgoing) => void handler(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`;
}

async function last(stream: ReadableStream<UIMessageChunk> | null): Promise<UIMessage | undefined> {
  let message: UIMessage | undefined;
  if (stream === null) return message;
  for await (const each of readUIMessageStream({ stream, terminateOnError: true })) message = each;
  return message;
}

const asked = (text: string): UIMessage => ({ id: "1", role: "user", parts: [{ type: "text", text }] });

test("DefaultChatTransport sends a message, and takes the run up again after its connection was cut", async () => {
  const gate = Promise.withResolvers<string>();
  const wait = tool({ name: "wait", execute: () => gate.promise });
  const model = scriptedModel([{ text: "A moment. ", toolCalls: [{ name: "wait" }] }, "Here you are."]);
  const store = memoryStore();
  const agent = new Agent({ model, tools: [wait] });
  const api = await listen(nodeHandler(serve({ agent, store, authorize: () => ({}) })));
  const transport = new DefaultChatTransport({ api });
  expect(await transport.reconnectToStream({ chatId: "s" })).toBeNull();
  const cut = new AbortController();
  const options = { chatId: "s", messageId: undefined, trigger: "submit-message" as const, messages: [asked("Hello")] };
  const stream = await transport.sendMessages({ ...options, abortSignal: cut.signal });
  const reader = stream.getReader();
  expect((await reader.read()).value).toMatchObject({ type: "start" });
  cut.abort();
  await expect(async () => {
    while (!(await reader.read()).done);
  }).rejects.toThrow();
  const again = await transport.reconnectToStream({ chatId: "s" });
  gate.resolve("ok");
  expect(textsOf((await last(again)) as UIMessage)).toEqual(["A moment. ", "Here you are."]);
  expect(await transport.reconnectToStream({ chatId: "s" })).toBeNull();
  expect(await store.session("s").getItemCount()).toBe(2);
});

test("a body that a middleware has parsed is used", async () => {
  const agent = new Agent({ model: scriptedModel(["Hi."]) });
  const handler = nodeHandler(serve({ agent, store: memoryStore(), authorize: () => ({}), protocol: "events" }));
  const api = await listen(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    await handler(Object.assign(incoming, { body, originalUrl: incoming.url }), outgoing);
  });
  const init = { method: "POST", headers: { "content-type": "application/json" } };
  const response = await fetch(api, { ...init, body: JSON.stringify({ id: "s", message: "Hello" }) });
  expect(await response.text()).toContain('"delta":"Hi."');
});

test("a handler that fails gives 500, and nothing of its error", async () => {
  const failing: FetchHandler = () => Promise.reject(new Error("secret"));
  const response = await fetch(await listen(nodeHandler(failing)));
  expect([response.status, await response.text()]).toEqual([500, ""]);
  expect(() => nodeHandler("chat" as never)).toThrow('"handler" must be a function');
});

test.each([
  ["GET", "//", "app.test", 400],
  ["GET", "/s", "a b", 400],
  ["TRACE", "/s", "app.test", 405],
])("%s %s for the host %j is refused without a warning", async (method, path, host, status) => {
  const warnings: unknown[] = [];
  const listener = (warning: unknown) => void warnings.push(warning);
  process.on("warning", listener);
  onTestFinished(() => void process.off("warning", listener));
  const { port } = new URL(await listen(nodeHandler(async () => new Response("served"))));
  const found = await new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end();
  });
  expect(found).toBe(status);
  expect(warnings).toEqual([]);
});
