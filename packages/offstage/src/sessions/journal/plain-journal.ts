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
  const { journal } = session as Partial<Journaled>;
  const isJournaled = typeof journal?.open === "function" && typeof journal.reopen === "function";
  return isJournaled ? journal : plainJournal(session);
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
function plainJournal(session: SessionPort): Journal {
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

// Adds the input at the beginning and the answer at the end. Subagents' runs are recorded nowhere.
async function openRun(session: SessionPort, { runId, input, historyLimit, ...start }: RunStart): Promise<RunLog> {
  const gate = gates.get(session) ?? fifo();
  gates.set(session, gate);
  const release = await enterSession(gate, session.sessionId, start);
  try {
    const { history, earlierCount } = await loadHistory(session, historyLimit);
    if (input.length > 0) await add(session, input);
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
  } catch (error) {
    release();
    throw error;
  }
}

async function loadHistory(
  session: SessionPort,
  limit: number | undefined,
): Promise<Pick<RunLog, "history" | "earlierCount">> {
  for (let count = limit; ; count &&= count * 2) {
    const items = await read(session, count);
    const isAll = count === undefined || items.length < count;
    const history = wholeTurns(items, limit, isAll);
    if (history === undefined) continue;
    if (isAll && history.length === items.length) return { history, earlierCount: items.length };
    // Sessions of other libraries may not count their items.
    return { history, earlierCount: await (session as Partial<SessionPort>).getItemCount?.() };
  }
}

async function read(session: SessionPort, limit: number | undefined): Promise<readonly Message[]> {
  const items = await naming(session, "read", () => session.getItems(limit));
  if (!Array.isArray(items))
    throw new OffstageError(
      "invalid-argument",
      `getItems() of a session must return a list of messages; found ${shownValue(items)}.`,
    );
  warnOfOtherItems(session, items);
  // A copy: the session may return its own list, which grows when messages are added.
  return [...items];
}

// Passes copies: a session of a user may modify the messages it is given.
function add(session: SessionPort, messages: readonly Message[]): Promise<void> {
  return naming(session, "written", async () => session.addItems(structuredClone(messages)));
}

// Names the session if it fails, which the error of a session of a user seldom does.
async function naming<T>({ sessionId }: SessionPort, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isOffstageError(cause) || isAbort(cause)) throw cause;
    const sentence = `Session "${sessionId}" could not be ${what}: ${messageOf(cause)}`;
    throw new OffstageError("store-failed", sentence, { cause });
  }
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

/** The session, for one run: its input replaces the newest turn, as `replaces` of `RunStart` says. */
export function replacingTurn(session: SessionPort & Journaled, replaces: string): SessionPort & Journaled {
  const { sessionId, journal } = session;
  return {
    sessionId,
    getItems: (limit) => session.getItems(limit),
    addItems: (items) => session.addItems(items),
    popItem: () => session.popItem(),
    clearSession: () => session.clearSession(),
    getItemCount: () => session.getItemCount(),
    journal: { ...journal, open: (start) => journal.open({ ...start, replaces }) },
  };
}
