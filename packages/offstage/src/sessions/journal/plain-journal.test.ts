import { expect, onTestFinished, test, vi } from "vitest";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { ended, start } from "../../testing/store-claims/claim.ts";
import type { SessionPort } from "../ports/session.ts";
import { journalFor } from "./plain-journal.ts";

/** A session as a user would write it: five methods on a list. */
function ownSession(methods: Partial<SessionPort> = {}, items: Message[] = []): SessionPort {
  return {
    sessionId: "own",
    getItems: async () => items,
    addItems: async (added) => void items.push(...added),
    popItem: async () => items.pop(),
    clearSession: async () => void items.splice(0),
    getItemCount: async () => items.length,
    ...methods,
  };
}

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

test.for([
  ["anna", 'found the text "anna". Pass store.session("anna").'],
  [Promise.resolve({}), "found a promise. Await it first."],
  [42, "found 42."],
] as const)("a value that is not a session is refused, with a hint what to pass: %s", ([value, sentence]) => {
  expect(() => journalFor(value as unknown as SessionPort)).toThrow(sentence);
});

test.for([
  ["getItems", new Error("db down"), 'Session "own" could not be read: db down'],
  ["getItems", undefined, 'Session "own" could not be read: undefined'],
  ["addItems", new Error("db down"), 'Session "own" could not be written: db down'],
  ["addItems", null, 'Session "own" could not be written: null'],
] as const)("an error of %s names the session: %s", async ([method, thrown, sentence]) => {
  for (const fail of [throwing(thrown), () => Promise.reject(thrown)]) {
    const opening = journalFor(ownSession({ [method]: fail })).open(start("r", "question"));
    await expect(opening).rejects.toMatchObject({ code: "store-failed", message: sentence, cause: thrown });
  }
});

test("an error while storing the answer names the session too", async () => {
  const session = ownSession();
  const log = await journalFor(session).open(start("r", "question"));
  Object.assign(session, { addItems: throwing(new Error("db down")) });
  await expect(log.end(ended("answer"))).rejects.toThrow('Session "own" could not be written: db down');
});

test.for([new OffstageError("store-full", "full"), new DOMException("enough", "AbortError")])(
  "an OffstageError or an abort of a session is not wrapped: %s",
  async (thrown) => {
    const opening = journalFor(ownSession({ getItems: throwing(thrown) })).open(start("r", "question"));
    await expect(opening).rejects.toBe(thrown);
  },
);

test("items that are not messages cause one warning", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const strange = ["hello", null, { role: "developer", content: "x" }, { content: "y" }] as unknown as Message[];
  const session = ownSession({}, [{ role: "user", content: "a" }, ...strange]);
  for (const runId of ["r1", "r2"]) {
    const log = await journalFor(session).open(start(runId, "question"));
    await log.end(ended("answer"));
  }
  const [sentence, options] = warn.mock.calls[0] ?? [];
  expect(sentence).toMatch(/^getItems\(\) of session "own" returned 4 of 5 items that are not messages/);
  expect(options).toEqual({ type: "OffstageWarning" });
  expect(warn).toHaveBeenCalledTimes(1);
});

test("a session with messages only causes no warning", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const log = await journalFor(ownSession({}, [{ role: "user", content: "a" }])).open(start("r", "question"));
  expect(log.history).toHaveLength(1);
  expect(warn).not.toHaveBeenCalled();
});
