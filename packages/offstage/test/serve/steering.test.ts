// Messages that are posted while a run works: they join it, in this process or in another.
import { expect, test } from "vitest";
import { type ServedEvent, type ServeOptions, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { chunksOf, conversation, get, post, readMessage, said, stop, textsOf } from "./serving.ts";

function serveWaiting(protocol: ServeOptions["protocol"], answers: readonly string[] = ["Paris, Texas, then."]) {
  const gate = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const look = tool({
    name: "look",
    execute: (_, { signal }) => {
      started.resolve();
      const aborted = new Promise<never>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      return Promise.race([gate.promise, aborted]);
    },
  });
  const model = scriptedModel([{ text: "I look. ", toolCalls: [{ name: "look" }] }, ...answers]);
  const store = memoryStore();
  const agent = new Agent({ model, tools: [look] });
  const authorize = () => ({});
  const onError = () => undefined;
  const open = () => serve({ agent, store, authorize, protocol, onError });
  return { open, gate, started: started.promise, model, store };
}

test("a message posted during a run joins it, and both responses stream that run", async () => {
  const { open, gate, started, model, store } = serveWaiting("ai-sdk");
  const chat = open();
  const first = await post(chat, said("s", "Weather in Paris?"));
  await started;
  const second = await post(chat, said("s", "I meant Paris, Texas."));
  gate.resolve("sunny");
  const messages = await Promise.all([first, second].map(async (response) => readMessage(await chunksOf(response))));
  const [message, again] = messages;
  expect(again).toEqual(message);
  expect(message?.parts.map(({ type }) => type)).toEqual([
    "step-start",
    "text",
    "steering-message",
    "step-start",
    "text",
  ]);
  expect(textsOf(message as never)).toEqual(["I look. ", "Paris, Texas, then."]);
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "user", content: "I meant Paris, Texas." });
  const texts = (await conversation(chat, "s")).flatMap(textsOf);
  expect(texts).toEqual(["Weather in Paris?", "I meant Paris, Texas.", "Paris, Texas, then."]);
  expect(await store.session("s").runs()).toHaveLength(1);
});

test("a message posted to another server of the same store joins the run, and is told there too", async () => {
  const { open, gate, started } = serveWaiting("events");
  const chat = open();
  const elsewhere = open();
  const first = await post(chat, { id: "s", message: "Weather in Paris?" });
  await started;
  const second = await post(elsewhere, { id: "s", message: "I meant Paris, Texas." });
  gate.resolve("sunny");
  for (const response of [first, second]) {
    const events = await chunksOf<ServedEvent>(response);
    const joined = events.findIndex(({ type }) => type === "message-joined");
    expect(events[joined]).toMatchObject({ message: { parts: [{ text: "I meant Paris, Texas." }] } });
    expect(events[joined - 1]).toMatchObject({ type: "step-end", step: 1 });
    expect(events.at(-1)).toMatchObject({ type: "run-end", status: "completed" });
  }
});

test("if the run is stopped before it takes the message in, the message is answered by a run of its own", async () => {
  const { open, started, store } = serveWaiting("ai-sdk", ["Hello again."]);
  const chat = open();
  const first = await post(chat, said("s", "Weather in Paris?"));
  await started;
  const second = await post(chat, said("s", "Never mind. Hello."));
  await stop(chat, "s");
  expect((await chunksOf(first)).at(-1)).toMatchObject({ finishReason: "interrupted" });
  expect(textsOf(await readMessage(await chunksOf(second)))).toEqual(["Hello again."]);
  const statuses = (await store.session("s").runs()).map(({ status }) => status);
  expect(statuses).toEqual(["completed", "stopped"]);
});

test("an answer cannot be generated again while a run works", async () => {
  const { open, gate, started } = serveWaiting("ai-sdk");
  const chat = open();
  const first = await post(chat, said("s", "Weather?"));
  await started;
  const again = await post(chat, { id: "s", messages: [], trigger: "regenerate-message" });
  expect([again.status, await again.json()]).toEqual([409, { error: { code: "session-busy" } }]);
  gate.resolve("sunny");
  await chunksOf(first);
  expect((await get(chat, "s/stream")).status).toBe(204);
});
