import { expect, test } from "vitest";
import { journalFor } from "./plain-journal.ts";
import type { SessionPort } from "./session.ts";

test.for([
  ["anna", 'found the text "anna". Pass store.session("anna").'],
  [Promise.resolve({}), "found a promise. Await it first."],
  [42, "found 42."],
] as const)("what is no session is refused with what to pass instead: %s", ([value, sentence]) => {
  expect(() => journalFor(value as unknown as SessionPort)).toThrow(sentence);
});
