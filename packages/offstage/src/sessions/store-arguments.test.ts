// Invalid arguments of stores and sessions are refused with a sentence, before anything is written.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, expect, test } from "vitest";
import { memoryDriver } from "./drivers/memory/memory.ts";
import { encryptedStore } from "./encrypted-store.ts";
import { InMemorySession } from "./in-memory-session.ts";
import { memoryStore, openStore, postgresStore, redisStore, sqliteStore } from "./open-store.ts";
import { PersistentSession } from "./persistent-session.ts";
import { createStore } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-arguments-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["a.db", 'The sqliteStore() options must be an object; found "a.db".'],
  [null, "must be an object; found null."],
  [{ namespace: 5 }, '"namespace" must be text; found 5.'],
  [{ path: 5 }, '"path" must be a path, such as "./offstage.db", and no URL; found 5.'],
  [{ path: "file:a.db" }, '"path" must be a path, such as "./offstage.db", and no URL; found "file:a.db".'],
  [{ durability: "fulll" }, '"durability" must be "normal" or "full"; found "fulll".'],
  [{ timeoutMs: "5" }, '"timeoutMs" must be a number of at least 0; found "5".'],
])("sqliteStore(%j) is refused", (options, sentence) => {
  expect(() => sqliteStore(options as object)).toThrow(sentence);
});

test("a store on a server needs its address at once", () => {
  const refused = (sentence: string) => expect.objectContaining({ code: "invalid-argument", message: sentence });
  const place = (second: string) => `needs "url" or "${second}"; found url undefined. Is the environment variable set?`;
  expect(() => postgresStore({ url: undefined })).toThrow(refused(`postgresStore() ${place("pool")}`));
  expect(() => redisStore({})).toThrow(refused(`redisStore() ${place("client")}`));
});

test("invalid arguments are refused with a sentence", async () => {
  const store = memoryStore();
  const invalid = (part: string) => ({ code: "invalid-argument", message: expect.stringContaining(part) });
  expect(() => openStore(undefined as never)).toThrow("The address of a store must be text; found undefined.");
  await expect(store.runs.get(undefined as never)).rejects.toMatchObject(
    invalid("A run id must be text of 1 to 512 bytes, without NUL and lone surrogates; found undefined."),
  );
  await expect(store.runs.get("")).rejects.toMatchObject(invalid('found ""'));
  await expect(store.runs.value("r", undefined as never)).rejects.toMatchObject(
    invalid("A tool call id must be text; found undefined."),
  );
  await expect(store.spans.list(undefined as never)).rejects.toMatchObject(
    invalid("The spans.list() options must be an object; found undefined."),
  );
  await expect(store.spans.add({} as never)).rejects.toMatchObject(invalid("needs a list of spans; found object."));
  await expect(store.session("s").runs(null as never)).rejects.toMatchObject(
    invalid("The session.runs() options must be an object; found null."),
  );
  await expect(new InMemorySession("s").runs({ state: "x" } as never)).rejects.toMatchObject(
    invalid('Unknown session.runs() option "state". Valid options: '),
  );
  expect(() => createStore(undefined as never)).toThrow("createStore() needs a store driver with the methods open,");
  expect(() => createStore(memoryDriver(), { path: "a" } as never)).toThrow('Unknown createStore() option "path"');
  await expect(store.runs.list({ state: "waiting" } as never)).rejects.toMatchObject(
    invalid('Unknown runs.list() option "state"'),
  );
  await expect(store.runs.list({ before: null } as never)).rejects.toMatchObject(
    invalid('"before" must be a "cursor"'),
  );
});

test("a path passed instead of options is refused", async () => {
  await expect(PersistentSession.persistent("s", "a.db" as never)).rejects.toThrow('found "a.db"');
  await expect(PersistentSession.persistent("s", { path: 5 } as never)).rejects.toThrow(
    '"path" must be a path, such as "./offstage.db", and no URL; found 5.',
  );
  await expect(PersistentSession.on("sqlite:a.db" as never)).rejects.toThrow('Pass openStore("sqlite:a.db").');
  expect(existsSync("offstage.db")).toBe(false);
});

test.each([
  () => openStore("postgress://user:secret@host/db"),
  () => openStore("user:secret@host/db?password=secret"),
  () => sqliteStore({ path: "postgres://user:secret@host/db" }),
  () => encryptedStore("postgres://user:secret@host/db" as never, { key: "00".repeat(32) }),
  () => PersistentSession.on("postgres://user:secret@host/db" as never),
  () => postgresStore({ url: "postgres://user:p/secret@host/db#secret" }).ready(),
  () => redisStore({ url: "redis://user:p#secret@host" }).ready(),
])("no error shows the password of an address: %s", async (open) => {
  const error: unknown = await (async () => open())().then(String, (thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "invalid-argument" });
  expect(inspect(error, { depth: 5 }).split("\n    at ", 1)[0]).not.toContain("secret");
  expect(inspect((error as Error).cause)).not.toContain("secret");
});

test.each(["x".repeat(513), "ß".repeat(257), "a\0b", "\ud800", "", 5])(
  "no session, run, namespace or memory has an id that not every back end can store: %j",
  async (id) => {
    const store = memoryStore();
    expect(() => store.session(id as never)).toThrow("A session id must be text of 1 to 512 bytes");
    expect(() => store.memory(id as never)).toThrow("A memory id must be text of 1 to 512 bytes");
    if (id !== "") expect(() => store.namespace(id as never)).toThrow("namespace must be text");
    await expect(store.runs.get(id as never)).rejects.toThrow("A run id must be text of 1 to 512 bytes");
  },
);

test("every maker refuses an invalid session id", async () => {
  await expect(async () => PersistentSession.persistent("", { path: ":memory:" })).rejects.toMatchObject({
    code: "invalid-argument",
  });
  await expect(PersistentSession.on(memoryStore(), "")).rejects.toMatchObject({ code: "invalid-argument" });
});

test("a misspelt option is refused, so that nothing is written to the default file", async () => {
  const misspelt = { pth: "a.db" } as object;
  expect(() => sqliteStore(misspelt)).toThrow(/Unknown sqliteStore\(\) option "pth". Valid options: path, /);
  await expect(PersistentSession.persistent("s", misspelt)).rejects.toMatchObject({ code: "invalid-argument" });
  expect(existsSync("offstage.db")).toBe(false);
});

test("a session with its own store accepts the options of a store, and refuses others", async () => {
  await expect(PersistentSession.inMemory("s", { redactor: () => {} } as never)).rejects.toThrow(
    'Unknown PersistentSession.inMemory() option "redactor". Valid options: namespace, redact, onError, keepInput.',
  );
  expect(() => openStore(`sqlite:${folder}/a.db`, { path: "b.db" } as never)).toThrow(
    'Unknown openStore() option "path"',
  );
});

test.each([{}, { runId: undefined }, { runId: "r", traceId: "t" }])("spans.list(%j) is refused", async (place) => {
  await expect(memoryStore().spans.list(place as { runId: string })).rejects.toThrow(
    "spans.list() needs one of { runId }, { traceId } and { sessionId }.",
  );
});

test("a session without an id creates no file", async () => {
  const path = join(folder, "none.db");
  await expect(PersistentSession.persistent(undefined as never, { path })).rejects.toThrow("A session id must");
  expect(existsSync(path)).toBe(false);
});

test.each([
  ["memory", () => memoryStore({ redactor: () => {} } as never)],
  ["openStore", () => openStore("memory:", { redactor: () => {} } as never)],
  ["postgres", () => postgresStore({ url: "postgres://localhost/none", redactor: () => {} } as never)],
  ["redis", () => redisStore({ url: "redis://localhost", ttl: 5 } as never)],
  ["encrypted", () => encryptedStore(memoryStore(), { key: "00".repeat(32), keyID: "a" } as never)],
])("an unknown option is refused: %s", (_, open) => {
  expect(open).toThrow(/^Unknown .* option "(redactor|ttl|keyID)". Valid options: .*redact/);
});

test.each([
  [
    { olderThan: -5 },
    '"olderThan" must be a Date, or an age in milliseconds (for a point in time, pass new Date(…)); found -5.',
  ],
  [{ olderThan: Date.now() }, "for a point in time, pass new Date(…)); found"],
  [{ olderThan: new Date("never") }, "found an invalid Date."],
  [{ olderThan: 1, keepLatest: 100 }, 'Unknown prune() option "keepLatest". Valid options: olderThan, keepLast'],
  [undefined, "The prune() options must be an object; found undefined."],
  [{}, 'needs "olderThan", "keepLast" or both'],
])("prune(%j) is refused and removes nothing", async (options, sentence) => {
  const store = memoryStore();
  await store.session("s").addItem({ role: "user", content: "keep me" });
  await expect(store.prune(options as never)).rejects.toThrow(sentence);
  expect(await store.session("s").getItemCount()).toBe(1);
});

test.each([
  [{}, "found undefined"],
  [{ key: "hunter2" }, "found text of 7 characters"],
  [undefined, "The encryptedStore() options must be an object; found undefined."],
])("an encrypted store without a valid key is refused", (options, sentence) => {
  expect(() => encryptedStore(memoryStore(), options as never)).toThrow(sentence);
});
