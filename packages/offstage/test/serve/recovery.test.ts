// Runs whose process died: the next client that asks resumes them.
import { expect, test, vi } from "vitest";
import { serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { crashingStore, scriptedModel } from "../../src/testing/index.ts";
import { chunksOf, conversation, get, post, readMessage, said, stop, textsOf } from "./serving.ts";

interface Crash {
  readonly users?: string[];
  readonly answers?: string[];
}

// A session "s" whose run broke off after its first step, without an end in the record.
async function crashed({ users = [], answers = ["Done."] }: Crash = {}) {
  const done: string[] = [];
  const act = tool({
    name: "act",
    execute: (_, { context }) => {
      users.push(String(context.get("user")));
      return `done ${done.push("act")}`;
    },
  });
  const once = { text: "I act. ", toolCalls: [{ name: "act" }] };
  const agent = new Agent({ model: scriptedModel([once, new Error("gone"), once, ...answers]), tools: [act] });
  const store = crashingStore(memoryStore(), { at: "run.end", when: "before", action: new Error("gone") });
  const onError = vi.fn();
  const chat = serve({ agent, store, authorize: () => ({ context: { user: "anna" } }), onError });
  await (await post(chat, said("s", "Go."))).text();
  const [run] = await store.session("s").runs();
  expect(run?.status).toBe("interrupted");
  onError.mockClear();
  const again = serve({ agent, store, authorize: () => ({ context: { user: "ben" } }), onError });
  return { chat: again, agent, store, done, onError, runId: run?.runId as string };
}

test("a client that asks for the stream resumes the run, with the context of its own request", async () => {
  const users: string[] = [];
  const { chat, store, onError, runId } = await crashed({ users });
  const message = await readMessage(await chunksOf(await get(chat, "s/stream")));
  expect(message.id).toBe(runId);
  expect(textsOf(message).at(-1)).toBe("Done.");
  expect(users.at(-1)).toBe("ben");
  expect((await store.session("s").runs()).map(({ status }) => status)).toEqual(["completed"]);
  expect((await get(chat, "s/stream")).status).toBe(204);
  expect(onError).not.toHaveBeenCalled();
});

test("two clients at once resume it once", async () => {
  const { chat, store } = await crashed();
  const streams = await Promise.all([get(chat, "s/stream"), get(chat, "s/stream")]);
  for (const stream of streams) expect(textsOf(await readMessage(await chunksOf(stream))).at(-1)).toBe("Done.");
  expect(await store.session("s").runs()).toHaveLength(1);
});

test("a new message joins the run that is resumed, or is answered after it", async () => {
  const { chat, store } = await crashed({ answers: ["Done.", "Done again."] });
  await chunksOf(await post(chat, said("s", "Hurry.")));
  await expect.poll(async () => (await store.session("s").runs({ status: "running" })).length).toBe(0);
  const statuses = (await store.session("s").runs()).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set(["completed"]));
  const items = (await store.session("s").getItems()).map(({ content }) => content);
  expect(items.slice(0, 1)).toEqual(["Go."]);
  expect(items).toContain("Hurry.");
  expect(items.at(-1)).toMatch(/^Done/);
});

test("a stop ends it instead", async () => {
  const { chat, store } = await crashed();
  expect((await stop(chat, "s")).status).toBe(204);
  expect((await get(chat, "s/stream")).status).toBe(204);
  expect((await store.session("s").runs())[0]).toMatchObject({ status: "stopped", reason: "stop-requested" });
});

test("regenerate answers its message anew, and leaves it stopped", async () => {
  const { chat, store } = await crashed({ answers: ["Anew."] });
  const again = { id: "s", messages: [], trigger: "regenerate-message" };
  await chunksOf(await post(chat, again));
  expect((await store.session("s").runs()).map(({ status }) => status)).toEqual(["completed", "stopped"]);
  const messages = await conversation(chat, "s");
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test("a run of another agent is left alone", async () => {
  const { store, onError } = await crashed();
  const agent = new Agent({ name: "other", model: scriptedModel(["Hi."]) });
  const chat = serve({ agent, store, authorize: () => ({}), onError });
  expect((await get(chat, "s/stream")).status).toBe(204);
  expect(textsOf(await readMessage(await chunksOf(await post(chat, said("s", "Hello.")))))).toEqual(["Hi."]);
  expect(onError).not.toHaveBeenCalled();
});
