// A session in memory. For tests and simple uses; nothing is stored.
import type { Message } from "../messages/message.ts";
import { MessageQuery, type MessageQueryOptions } from "../query/message-query.ts";
import { type BranchOptions, branchId } from "./branch-options.ts";
import { fifo } from "./fifo.ts";
import { type FoundRun, foundRun } from "./found-run.ts";
import { enterSession } from "./held-session.ts";
import type { Journal, ReopenOptions, RunInfo, RunLog, RunRecord, RunStart } from "./journal.ts";
import { checkLimit, latest } from "./limit.ts";
import { MemoryLog } from "./memory-log.ts";
import { checkedMessages, keptMessage } from "./message-rows.ts";
import { plainCopy } from "./plain-json.ts";
import { checkRunFilter, isWanted, type RunFilter } from "./run-filter.ts";
import { checkResumable, reopenedRun } from "./run-life.ts";
import { findRun, type RememberedRun, recordOf, rememberRun, wholeTraceOf } from "./run-memory.ts";
import type { Session } from "./session.ts";
import { checkSessionId } from "./session-cell.ts";
import { existsAlready } from "./session-errors.ts";
import { weave } from "./transcript.ts";
import { wholeTurns } from "./whole-turns.ts";

/** A conversation in memory. */
export class InMemorySession implements Session {
  readonly sessionId: string;
  #items: Message[] = [];
  readonly #runs: RememberedRun[] = [];
  readonly #gate = fifo();
  readonly #journal: Journal = {
    keepsSpans: false,
    keepsRuns: true,
    open: (start) => this.#open(start),
    reopen: (runId, options) => this.#reopen(runId, options),
  };

  constructor(sessionId: string = crypto.randomUUID()) {
    checkSessionId(sessionId);
    this.sessionId = sessionId;
  }

  async getItems(limit?: number): Promise<Message[]> {
    return copies(latest(this.#items, limit));
  }

  async addItems(items: readonly Message[]): Promise<void> {
    this.#add(checkedMessages(items));
  }

  #add(messages: readonly Message[]): void {
    for (const message of messages) this.#items.push(message);
  }

  /** Replaces all items. */
  async replaceItems(items: readonly Message[]): Promise<void> {
    this.#items = checkedMessages(items);
  }

  async popItem(): Promise<Message | undefined> {
    return copies(this.#items.splice(-1))[0];
  }

  /** Removes the newest turn, which is the last user message and everything after it, and returns it. */
  async popTurn(): Promise<Message[]> {
    const start = this.#items.findLastIndex(({ role }) => role === "user");
    return start === -1 ? [] : copies(this.#items.splice(start));
  }

  async clearSession(): Promise<void> {
    this.#items = [];
  }

  async getItemCount(): Promise<number> {
    return this.#items.length;
  }

  async addItem(item: Message): Promise<void> {
    await this.addItems([item]);
  }

  async getAllItems(): Promise<Message[]> {
    return this.getItems();
  }

  async isEmpty(): Promise<boolean> {
    return this.#items.length === 0;
  }

  /** The runs of this session, newest first. */
  async runs(options: RunFilter = {}): Promise<RunInfo[]> {
    checkRunFilter(options, {}, "session.runs()");
    const wanted = this.#runs.map(({ info }) => info).filter((info) => isWanted(options, info));
    return latest(wanted, options.limit).reverse();
  }

  /** Everything recorded of a run, and the calls that wait for approval. */
  async run(runId: string): Promise<FoundRun | undefined> {
    const read = async (id: string): Promise<RunRecord | undefined> => {
      const run = findRun(this.#runs, id);
      return run && (JSON.parse(JSON.stringify(this.#record(run))) as RunRecord);
    };
    const record = await read(runId);
    return record && foundRun(record, read);
  }

  #record(run: RememberedRun): RunRecord {
    const isIncomplete =
      run.info.parentRunId === undefined && run.input.some((message) => !this.#items.includes(message));
    return isIncomplete ? { ...recordOf(run), isIncomplete } : recordOf(run);
  }

  /** The conversation together with the tool traces of its runs, in chronological order. */
  async transcript(): Promise<Message[]> {
    const places = new Map(this.#items.map((message, index) => [message, index]));
    const runs = this.#runs
      .filter(({ info }) => info.parentRunId === undefined)
      .map((run) => {
        const behind = places.get(run.input.findLast((message) => places.has(message)) as Message);
        return { runId: run.info.runId, trace: wholeTraceOf(run), hasInput: run.input.length > 0, behind };
      });
    return copies(weave(this.#items, runs));
  }

  /** Queries the transcript: filter, statistics, tool summary, timeline, export. */
  async query(options: MessageQueryOptions = {}): Promise<MessageQuery> {
    return new MessageQuery(await this.transcript(), options);
  }

  /** Creates a session with the first `at` messages of this one; default all. */
  async branch(at?: number, options: BranchOptions = {}): Promise<InMemorySession> {
    const session = new InMemorySession(branchId(at, options));
    if (session.sessionId === this.sessionId) throw existsAlready(this.sessionId);
    session.#items = copies(this.#items.slice(0, at));
    return session;
  }

  /** Records the runs of this session. */
  get journal(): Journal {
    return this.#journal;
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  async #open(start: RunStart): Promise<RunLog> {
    checkLimit(start.historyLimit, "historyLimit");
    const input = own(start.input);
    const leave = await enterSession(this.#gate, this.sessionId, start);
    const history = wholeTurns(this.#items, start.historyLimit, true)?.slice() ?? [];
    const run = rememberRun(start, { input, sessionId: this.sessionId });
    this.#add(input);
    this.#runs.push(run);
    return this.#log(run, history, { leave });
  }

  async #reopen(runId: string, options: ReopenOptions): Promise<RunLog> {
    const leave = await enterSession(this.#gate, this.sessionId, options);
    try {
      const run = this.#resumable(runId);
      const [first] = run.input;
      const start = first === undefined ? -1 : this.#items.indexOf(first);
      const before = start < 0 ? this.#items : this.#items.slice(0, start);
      const recorded = this.#record(run);
      const notes = options.admit?.(recorded);
      run.info = { ...reopenedRun(run.info), ...(notes && { notes: { ...run.info.notes, ...notes } }) };
      return this.#log(run, wholeTurns(before, options.historyLimit, true) ?? [], { leave, recorded });
    } catch (error) {
      leave();
      throw error;
    }
  }

  #resumable(runId: string): RememberedRun {
    const root = this.#runs.find((each) => findRun([each], runId) !== undefined);
    const run = root && findRun([root], runId);
    const rootRunId = run === root ? undefined : root?.info.runId;
    checkResumable(run && { runId, status: run.info.status, rootRunId }, { runId, sessionId: this.sessionId });
    return run;
  }

  #log(
    run: RememberedRun,
    history: readonly Message[],
    { leave, recorded }: { leave: () => void; recorded?: RunRecord | undefined },
  ): RunLog {
    const onOver = (answer: readonly Message[]): void => {
      try {
        this.#add(own(answer));
      } finally {
        leave();
      }
    };
    const held = { place: leave, runId: run.info.runId };
    return new MemoryLog(run, { runs: this.#runs, history, held, onOver, recorded });
  }
}

function copies(messages: readonly Message[]): Message[] {
  return messages.map((message, index) => plainCopy(message, `items[${index}]`));
}

// The conversation keeps copies: the messages of a run belong to the run.
function own(messages: readonly Message[]): Message[] {
  return messages.map(keptMessage);
}
