// Plain journal: any session with the five methods, as the agent needs it. Input and answer are added; no run is recorded.

import { isAbort } from "../base/cancellation.ts";
import { isObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { isThenable } from "../base/thenable.ts";
import { warn } from "../base/warn.ts";
import { isOffstageError, messageOf, OffstageError } from "../errors.ts";
import type { Message, Role } from "../messages/message.ts";
import { type Fifo, fifo } from "./fifo.ts";
import { enterSession } from "./held-session.ts";
import type { Journal, RunLog, RunStart } from "./journal.ts";
import { ownJournal } from "./journaled.ts";
import { MemoryLog } from "./memory-log.ts";
import { rememberRun } from "./run-memory.ts";
import type { SessionPort } from "./session.ts";
import { wholeTurns } from "./whole-turns.ts";

// Beside the session it belongs to, and gone with it: runs of several agents on one object must queue together.
const gates = new WeakMap<SessionPort, Fifo>();
// The sessions that were told of.
const told = new WeakSet<SessionPort>();

/** The journal of any session: its own if it has one, otherwise a plain one. Throws for what is no session. */
export function journalFor(session: SessionPort): Journal {
  checkSession(session);
  return ownJournal(session) ?? plainJournal(session);
}

/** Throws `invalid-argument` for what is no session, and says what it is instead. */
export function checkSession(session: unknown): void {
  if (isObject(session) && typeof session.getItems === "function" && typeof session.addItems === "function") return;
  throw new OffstageError("invalid-argument", `"session" must be a session; found ${shownSlip(session)}.`);
}

// The likeliest slips are an id in place of a session, a promise of one, and the store it is in.
function shownSlip(session: unknown): string {
  if (typeof session === "string") return `the text "${session}". Pass store.session("${session}")`;
  if (isThenable(session)) return "a promise. Await it first";
  const isStore = isObject(session) && typeof session.session === "function";
  if (isStore) return 'a store. Pass store.session("some id")';
  return isObject(session) ? "an object without getItems or addItems" : shownValue(session);
}

/** A journal for a session that only keeps a conversation. Runs queue; `addItems` is called twice a turn. */
export function plainJournal(session: SessionPort): Journal {
  return {
    keepsSpans: false,
    keepsRuns: false,
    open: (start) => openRun(session, start),
    reopen: async (runId) => {
      const message = `Run "${runId}" cannot be resumed: session "${session.sessionId}" keeps no runs. Use a store.`;
      throw new OffstageError("run-not-resumable", message);
    },
  };
}

async function openRun(session: SessionPort, start: RunStart): Promise<RunLog> {
  const leave = await enterSession(gateOf(session), session.sessionId, start);
  try {
    const history = await loadHistory(session, start.historyLimit);
    if (start.input.length > 0) await add(session, start.input);
    return plainRun(session, start, { history, leave });
  } catch (error) {
    leave();
    throw error;
  }
}

function gateOf(session: SessionPort): Fifo {
  const gate = gates.get(session) ?? fifo();
  gates.set(session, gate);
  return gate;
}

async function loadHistory(session: SessionPort, limit: number | undefined): Promise<readonly Message[]> {
  for (let count = limit; ; count = count === undefined ? count : count * 2) {
    const items = await read(session, count);
    const turns = wholeTurns(items, limit, count === undefined || items.length < count);
    if (turns !== undefined) return turns;
  }
}

async function read(session: SessionPort, limit: number | undefined): Promise<readonly Message[]> {
  try {
    const items = copied(await session.getItems(limit));
    tellOfStrangers(session, items);
    return items;
  } catch (cause) {
    throw failureOf(session, { cause, asked: "be read" });
  }
}

async function add(session: SessionPort, messages: readonly Message[]): Promise<void> {
  try {
    await session.addItems(messages);
  } catch (cause) {
    throw failureOf(session, { cause, asked: "take messages" });
  }
}

// What was thrown says what happened to the session, and seldom to which one.
function failureOf({ sessionId }: SessionPort, { cause, asked }: { cause: unknown; asked: string }): unknown {
  if (isOffstageError(cause) || isAbort(cause)) return cause;
  const sentence = `Session "${sessionId}" could not ${asked}: ${messageOf(cause)}`;
  return new OffstageError("store-failed", sentence, { cause });
}

// What is added to a session must not show up in what was read of it before.
function copied(items: readonly Message[]): readonly Message[] {
  if (Array.isArray(items)) return [...items];
  throw new OffstageError(
    "invalid-argument",
    `getItems() of a session gives a list of messages; found ${shownValue(items)}.`,
  );
}

const roles: ReadonlySet<unknown> = new Set<Role>(["system", "user", "assistant", "tool"]);

// Repair leaves out of the input what is no message; a user who stored it should hear of it, and not at every turn.
function tellOfStrangers(session: SessionPort, items: readonly unknown[]): void {
  const strangers = items.filter((item) => !isObject(item) || !roles.has(item.role));
  if (strangers.length === 0 || told.has(session)) return;
  told.add(session);
  const sentence = `getItems() of session "${session.sessionId}" gave ${strangers.length} of ${items.length} items that are no messages: the model does not see them. A message has the role "system", "user", "assistant" or "tool".`;
  warn(sentence);
}

interface PlainRunOptions {
  readonly history: readonly Message[];
  readonly leave: () => void;
}

function plainRun(session: SessionPort, start: RunStart, { history, leave }: PlainRunOptions): RunLog {
  const held = { place: leave, runId: start.runId };
  const run = rememberRun(start, { input: start.input, sessionId: session.sessionId });
  const store = async (answer: readonly Message[]): Promise<void> => {
    // A session of the user's may write to what it is given.
    if (answer.length > 0) await add(session, structuredClone(answer));
  };
  return new MemoryLog(run, { runs: [], history, held, store, onOver: leave });
}
