// A journal for any session with the five methods: it adds input and answer, and stores no runs.

import { isAbort } from "../../base/cancellation.ts";
import { isObject } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { isThenable } from "../../base/thenable.ts";
import { warn } from "../../base/warn.ts";
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import type { Message, Role } from "../../messages/message.ts";
import { wholeTurns } from "../conversation/conversation.ts";
import { type Fifo, fifo } from "../head/fifo.ts";
import { enterSession } from "../lease/lease.ts";
import type { Journal, RunEnd, RunLog, RunStart } from "../ports/journal.ts";
import type { SessionPort } from "../ports/session.ts";

// By session object, so that runs of several agents on the same session share one queue.
const gates = new WeakMap<SessionPort, Fifo>();
// The sessions that a warning was printed for.
const warned = new WeakSet<SessionPort>();

/** The journal of a session: its own, or a plain one if it has none. Throws `invalid-argument` for a value that is not a session. */
export function journalFor(session: SessionPort): Journal {
  checkSession(session);
  return ownJournal(session) ?? plainJournal(session);
}

/** Throws `invalid-argument` for a value that is not a session, and says what it is. */
export function checkSession(session: unknown): void {
  if (isObject(session) && typeof session.getItems === "function" && typeof session.addItems === "function") return;
  throw new OffstageError("invalid-argument", `"session" must be a session; found ${shownMistake(session)}.`);
}

// The most likely mistakes are the id of a session, a promise of a session, and a store.
function shownMistake(session: unknown): string {
  if (typeof session === "string") return `the text ${shownValue(session)}. Pass store.session(${shownValue(session)})`;
  if (isThenable(session)) return "a promise. Await it first";
  const isStore = isObject(session) && typeof session.session === "function";
  if (isStore) return 'a store. Pass store.session("some id")';
  return isObject(session) ? "an object without getItems or addItems" : shownValue(session);
}

/** A journal for a session that stores only a conversation. Runs queue; `addItems` is called twice per turn. */
export function plainJournal(session: SessionPort): Journal {
  return {
    keepsSpans: false,
    keepsRuns: false,
    keepsInput: false,
    namespace: "",
    scope: session,
    inbox: undefined,
    open: (start) => openRun(session, start),
    reopen: async (runId) => {
      const message = `Run "${runId}" cannot be resumed: session "${session.sessionId}" stores no runs. Use a store.`;
      throw new OffstageError("run-not-resumable", message);
    },
  };
}

async function openRun(session: SessionPort, start: RunStart): Promise<RunLog> {
  const release = await enterSession(gateOf(session), session.sessionId, start);
  try {
    const { historyLimit } = start;
    const { history, isWhole } = await loadHistory(session, historyLimit);
    const earlierCount = isWhole ? history.length : await countItems(session);
    if (start.input.length > 0) await add(session, start.input);
    return plainRun(session, start, { history, earlierCount, release });
  } catch (error) {
    release();
    throw error;
  }
}

function gateOf(session: SessionPort): Fifo {
  const gate = gates.get(session) ?? fifo();
  gates.set(session, gate);
  return gate;
}

interface LoadedHistory {
  readonly history: readonly Message[];
  /** True if the history is the whole conversation. */
  readonly isWhole: boolean;
}

async function loadHistory(session: SessionPort, limit: number | undefined): Promise<LoadedHistory> {
  for (let count = limit; ; count = count === undefined ? count : count * 2) {
    const items = await read(session, count);
    const isAll = count === undefined || items.length < count;
    const history = wholeTurns(items, limit, isAll);
    if (history !== undefined) return { history, isWhole: isAll && history.length === items.length };
  }
}

// Sessions of other libraries may not count their items.
async function countItems(session: Partial<SessionPort>): Promise<number | undefined> {
  return session.getItemCount?.();
}

async function read(session: SessionPort, limit: number | undefined): Promise<readonly Message[]> {
  try {
    const items = copied(await session.getItems(limit));
    warnOfOtherItems(session, items);
    return items;
  } catch (cause) {
    throw failureOf(session, { cause, what: "read" });
  }
}

async function add(session: SessionPort, messages: readonly Message[]): Promise<void> {
  try {
    // Copies: a session of a user may modify the messages it is given.
    await session.addItems(structuredClone(messages));
  } catch (cause) {
    throw failureOf(session, { cause, what: "written" });
  }
}

// Names the session, which the error of a session of a user seldom does.
function failureOf({ sessionId }: SessionPort, { cause, what }: { cause: unknown; what: string }): unknown {
  if (isOffstageError(cause) || isAbort(cause)) return cause;
  const sentence = `Session "${sessionId}" could not be ${what}: ${messageOf(cause)}`;
  return new OffstageError("store-failed", sentence, { cause });
}

// Copies the list: the session may return its own, which grows when messages are added.
function copied(items: readonly Message[]): readonly Message[] {
  if (Array.isArray(items)) return [...items];
  throw new OffstageError(
    "invalid-argument",
    `getItems() of a session must return a list of messages; found ${shownValue(items)}.`,
  );
}

const roles: ReadonlySet<unknown> = new Set<Role>(["system", "user", "assistant", "tool"]);

// Repair drops items that are not messages from the model input. Warns of that once per session.
function warnOfOtherItems(session: SessionPort, items: readonly unknown[]): void {
  const others = items.filter((item) => !isObject(item) || !roles.has(item.role));
  if (others.length === 0 || warned.has(session)) return;
  warned.add(session);
  const sentence = `getItems() of session "${session.sessionId}" returned ${others.length} of ${items.length} items that are not messages; the model does not see them. The role of a message is "system", "user", "assistant" or "tool".`;
  warn(sentence);
}

interface PlainRunOptions {
  readonly history: readonly Message[];
  readonly earlierCount: number | undefined;
  readonly release: () => void;
}

// A log that writes only the answer. Subagents' runs are recorded nowhere.
function plainRun(
  session: SessionPort,
  { runId }: Pick<RunStart, "runId">,
  { history, earlierCount, release }: PlainRunOptions,
): RunLog {
  let ending: Promise<undefined> | undefined;
  const finish = async ({ answer }: RunEnd): Promise<undefined> => {
    if (answer.length > 0) await add(session, answer);
    release();
  };
  return {
    ...unrecorded(runId),
    history,
    earlierCount,
    held: { place: release, runId },
    end: (end) => {
      ending ??= finish(end);
      return ending;
    },
    abandon: async () => release(),
  };
}

function unrecorded(runId: string): RunLog {
  const nothing = async (): Promise<undefined> => undefined;
  return {
    runId,
    history: [],
    joined: [],
    inbox: async () => [],
    join: nothing,
    onStop: () => {},
    questionText: (text) => text,
    toolTraces: async () => new Map(),
    intend: nothing,
    settle: nothing,
    wait: nothing,
    decide: nothing,
    step: nothing,
    end: nothing,
    child: async (start) => unrecorded(start.runId),
    abandon: nothing,
  };
}

/** A session with a journal of its own. */
export interface Journaled {
  /** Records the runs of this session. */
  readonly journal: Journal;
}

/** The journal of a session; undefined if it has none. */
export function ownJournal(session: object): Journal | undefined {
  const { journal } = session as Partial<Journaled>;
  const isOne = typeof journal?.open === "function" && typeof journal.reopen === "function";
  return isOne ? journal : undefined;
}
