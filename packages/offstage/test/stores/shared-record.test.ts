// Two stores on one place, as two processes: what one does must not spoil the record of the other.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { Agent, type Message, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { open, said, start } from "../../src/testing/store-claims/claim.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-shared-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.useRealTimers());

let files = 0;
function twoStores() {
  const path = join(folder, `${files++}.db`);
  return [sqliteStore({ path }), sqliteStore({ path })] as const;
}

test("a file is stored again if another process deleted and recreated the session", async () => {
  const [one, other] = twoStores();
  const image: Message = {
    role: "user",
    content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(4_000)}` } }],
  };
  await one.session("s").addItems([image]);
  await other.sessions.delete("s");
  await other.session("s").addItems([said("new")]);
  await one.session("s").addItems([image]);
  expect(await other.session("s").getItems()).toEqual([said("new"), image]);
  expect(await other.verify()).toEqual([]);
  await Promise.all([one.close(), other.close()]);
});

test("spans that two stores add at the same time are all kept", async () => {
  const [one, other] = twoStores();
  const span = (n: number, of: string) => ({
    ...{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: `${of}${n}`, name: "work", kind: "custom" },
    ...{ startTime: 1, endTime: 2, duration: 1, status: "ok" as const, metadata: {} },
  });
  const adding = Array.from({ length: 50 }, (_, n) => [one.spans.add([span(n, "a")]), other.spans.add([span(n, "b")])]);
  await Promise.all(adding.flat());
  expect(await one.spans.list({ traceId: "0af7651916cd43dd8448eb211c80319c" })).toHaveLength(100);
  await Promise.all([one.close(), other.close()]);
});

test("a process whose clock is an hour ahead does not delete a session under a live run", async () => {
  const [one, other] = twoStores();
  const log = await open(one, "s", start("r", "hello"));
  vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ["Date"] });
  await expect(other.sessions.delete("s")).rejects.toMatchObject({ code: "session-busy" });
  vi.useRealTimers();
  await log.abandon();
  await Promise.all([one.close(), other.close()]);
});

test("a branch that takes the id of a failed first attempt has its history", async () => {
  let isBroken = true;
  const redact = (message: Message): Message => {
    if (isBroken) throw new Error("down");
    return message;
  };
  const store = sqliteStore({ path: ":memory:", redact });
  const model = scriptedModel(() => "ok");
  const agent = new Agent({ model });
  await expect(agent.run("x", { session: store.session("b") })).rejects.toThrow("down");
  isBroken = false;
  await store.session("a").addItems([said("my name is Ada")]);
  const branch = await store.session("a").branch(undefined, { id: "b" });
  await agent.run("who am I?", { session: branch });
  expect(model.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(["my name is Ada", "who am I?"]);
  await store.close();
});

test('with persist: "everything", a resumed run sends the provider\'s parts back', async () => {
  const store = sqliteStore({ path: ":memory:" });
  const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
  const look = tool({ name: "look", execute: () => "seen" });
  const model = scriptedModel([
    { reasoning: "I look first.", toolCalls: [{ name: "look" }] },
    { toolCalls: [{ name: "pay" }] },
    "Done.",
  ]);
  const agent = new Agent({ model, tools: [pay, look] });
  const session = store.session("s");
  const waiting = await agent.run("Pay", { session, persist: "everything" });
  const before = model.requests[1]?.options.prompt;
  await agent.resume(waiting.runId, { store, approve: [...waiting.approvals], persist: "everything" });
  const after = model.requests[2]?.options.prompt;
  expect(JSON.stringify(before)).toContain("I look first.");
  expect(JSON.stringify(after)).toContain("I look first.");
  await store.close();
});

test("messages with times that no calendar has are stored, and found by time like any other", async () => {
  const store = sqliteStore({ path: ":memory:" });
  const times = [1.7e15, "-000100-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "not a time"];
  const items = times.map((createdAt) => ({ ...said("x"), metadata: { createdAt } }) as unknown as Message);
  await store.session("s").addItems(items);
  expect(await store.session("s").getItems()).toEqual(items);
  const found = await store.query({ since: "2000-01-01" });
  expect(found.length).toBe(items.length);
  await store.close();
});
