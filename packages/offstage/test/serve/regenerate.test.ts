// Regenerating the newest answer: one write, which removes nothing but the turn that is answered again.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { serve } from "../../src/doors/serve.ts";
import { Agent, type Message, memoryStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { chunksOf, post, said } from "./serving.ts";

function serveSlowly() {
  const store = memoryStore();
  const pace = { ms: 0 };
  let answers = 0;
  const model = scriptedModel(async ({ messages }: { messages: readonly Message[] }) => {
    await sleep(pace.ms);
    return `${++answers} to ${messages.at(-1)?.content}`;
  });
  const chat = serve({ agent: new Agent({ model }), store, authorize: () => ({}), onError: () => undefined });
  const session = store.session("s");
  const say = async (text: string) => chunksOf(await post(chat, said("s", text)));
  const again = (messageId?: string) =>
    post(chat, { id: "s", messages: [], trigger: "regenerate-message", ...(messageId && { messageId }) });
  const texts = async () => (await session.getItems()).map(({ content }) => content);
  const newest = async () => (await session.getItems(1))[0]?.metadata?.runId as string;
  return { model, session, pace, say, again, texts, newest };
}

test.each([0, 30])("a second click %i ms after the first removes nothing and steers nothing", async (ms) => {
  const { pace, say, again, texts, newest } = serveSlowly();
  for (const text of ["one", "two", "three"]) await say(text);
  const named = await newest();
  pace.ms = 100;
  const first = again(named);
  await sleep(ms);
  const [one, two] = await Promise.all([first, again(named)]);
  expect([one.status, two.status].sort()).toEqual([200, 409]);
  await Promise.all([one, two].map((response) => response.text()));
  expect(await texts()).toEqual(["one", "1 to one", "two", "2 to two", "three", "4 to three"]);
});

test("an older answer cannot be generated again while a new message is answered", async () => {
  const { pace, say, again, texts, newest } = serveSlowly();
  for (const text of ["one", "two"]) await say(text);
  const named = await newest();
  pace.ms = 100;
  const answering = say("new");
  await sleep(30);
  expect((await again(named)).status).toBe(409);
  await answering;
  expect((await again(named)).status).toBe(400);
  expect(await texts()).toEqual(["one", "1 to one", "two", "2 to two", "new", "3 to new"]);
});

test("the model sees the conversation before the turn, and the message once", async () => {
  const { model, session, say, again, texts } = serveSlowly();
  for (const text of ["one", "two"]) await say(text);
  await chunksOf(await again());
  expect(model.requests[2]?.messages.map(({ content }) => content)).toEqual(["one", "1 to one", "two"]);
  await chunksOf(await again());
  await say("three");
  expect(await texts()).toEqual(["one", "1 to one", "two", "4 to two", "three", "5 to three"]);
  expect(await session.getItemCount()).toBe(6);
});

test("a run that cannot begin leaves the turn as it is", async () => {
  const { session, say, texts } = serveSlowly();
  await say("one");
  const { journal } = session;
  const [{ runId } = { runId: "" }] = await session.runs();
  const start = { agent: "a", startedAt: new Date().toISOString(), historyLimit: undefined, onBusy: "reject" } as const;
  const input = [{ role: "user", content: "one" }] as const;
  await expect(journal.open({ ...start, runId: "r", input, replaces: "another" })).rejects.toMatchObject({
    code: "session-conflict",
  });
  const signal = AbortSignal.abort(new Error("gone"));
  await expect(journal.open({ ...start, runId: "r", input, replaces: runId, signal })).rejects.toThrow("gone");
  expect(await texts()).toEqual(["one", "1 to one"]);
  // A process that dies after the write has the message, and the run that can be resumed.
  await (await journal.open({ ...start, runId: "r", input, replaces: runId })).abandon();
  expect(await texts()).toEqual(["one"]);
  expect((await session.run("r"))?.status).toBe("interrupted");
});
