// The log of one run on a store. Every write is fenced by the lease of the session.
import type { JsonValue } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import { type AssistantMessage, type Message, type ToolMessage, withMetadata } from "../../messages/message.ts";
import { appendRows, touch } from "../conversation/conversation.ts";
import { joinRows, readInbox } from "../conversation/inbox.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import { checkHeld, holdLease, isAskedToStop, type LeaseHold, releaseLease } from "../lease/lease.ts";
import type { CallChange, EndRefusal, HeldSession, NewRun, RunEnd, RunLog, StepInput } from "../ports/journal.ts";
import type { QuestionRecord, RunRecord, StepRecord } from "../ports/run-record.ts";
import type { PendingMessage } from "../ports/session.ts";
import type { Write, WriteLabel } from "../ports/store-driver.ts";
import type { MessageRow, RunRow, SessionRow } from "../ports/tables.ts";
import { findRun, readToolTraces } from "../records/run-reader.ts";
import { identityOf, rowIdentity, storeMessage } from "../rows/message-row.ts";
import { frozenCopy } from "../rows/plain-json.ts";
import { questionText, storedText } from "../rows/question.ts";
import { redactEnd, redactNotes, redactOnce } from "../rows/redaction.ts";
import { type Totals, totalsOf } from "../rows/run-row.ts";
import { findToResume, type ResumedRun, readToResume, reopenRow } from "./resumed-run.ts";
import {
  beginRun,
  copyRef,
  endRun,
  hasEnded,
  isSame,
  refusalOf,
  sumOf,
  withoutSaid,
  withProviderParts,
  withSeq,
} from "./run-life.ts";
import { StepWriter, type Written } from "./step-writer.ts";

/** An open run. */
export interface StoredRunOptions {
  readonly cell: SessionCell;
  readonly row: RunRow;
  readonly fence: number;
  readonly history: readonly Message[];
  readonly earlierCount?: number;
  /** The record from before the run was resumed. */
  readonly resumed?: ResumedRun | undefined;
  /** The messages of the inbox that the run took in when it began. */
  readonly joined?: readonly Message[] | undefined;
  /** Admits the next run of this process. Undefined for a subagent's run. */
  readonly release?: () => void;
  /** The runs of subagents that the outermost run and those below it have started. */
  readonly subagents?: Set<string>;
  /** Receives the totals of a subagent's run when it ends. */
  readonly onTotals?: (runId: string, totals: Totals) => void;
}

/** The log of a run that holds its session, or of a subagent's run inside it. */
export class StoredRun implements RunLog {
  readonly runId: string;
  readonly namespace: string;
  readonly history: readonly Message[];
  readonly earlierCount: number | undefined;
  readonly held: HeldSession | undefined;
  readonly recorded: RunRecord | undefined;
  readonly joined: readonly Message[];
  readonly #options: StoredRunOptions;
  readonly #steps: StepWriter;
  readonly #subagents: Set<string>;
  readonly #hold: LeaseHold | undefined;
  /** The totals of subagents' runs, by run id. */
  readonly #beneath = new Map<string, Totals>();
  /** The rows of all messages of this run that are not part of the conversation, by message. */
  readonly #done = new Map<string, DoneMessage>();
  /** The costs of the steps that are written. */
  readonly #costs: (number | undefined)[];
  #row: RunRow;
  #isOver = false;
  #isEnded = false;
  #ending: Promise<EndRefusal | undefined> | undefined;
  readonly #stopping = Promise.withResolvers<void>();

  constructor(options: StoredRunOptions) {
    const { cell, row, history, resumed, release } = options;
    this.runId = row.run_id;
    this.namespace = cell.namespace;
    this.history = history;
    this.earlierCount = options.earlierCount;
    this.held = release && { place: release, runId: row.run_id };
    this.recorded = resumed?.record;
    this.joined = options.joined ?? [];
    this.#options = options;
    // The row of a run that was interrupted does not count its steps.
    this.#row =
      resumed === undefined
        ? row
        : { ...row, step_count: resumed.record.stepCount, error_count: resumed.record.errorCount };
    this.#subagents = options.subagents ?? new Set();
    this.#steps = new StepWriter(cell, this.#row, { recorded: resumed, subagents: this.#subagents });
    for (const child of resumed?.children ?? []) {
      const totals = totalsOf(child);
      if (totals !== undefined) this.#beneath.set(child.run_id, totals);
    }
    for (const { seq, step, message } of resumed?.done ?? []) {
      const identity = identityOf(message);
      if (identity !== undefined)
        this.#done.set(identity, { seq, step, providerParts: message.metadata?.providerParts });
    }
    this.#costs = resumed?.record.steps.map(({ cost }) => cost) ?? [];
    this.#hold =
      release && holdLease(cell, { fence: options.fence, row }, { release, onStop: () => this.#stopping.resolve() });
  }

  questionText(text: string): string {
    return storedText(text, this.#options.cell.context.redact);
  }

  toolTraces(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly Message[]>> {
    return readToolTraces(this.#options.cell, runIds);
  }

  async intend(
    step: number,
    message: AssistantMessage,
    waiting: readonly string[] = [],
    input?: StepInput,
  ): Promise<void> {
    if (step <= this.#row.step_count) return;
    await this.#write("tool.intent", step, (head) => this.#steps.intend(head, step, { message, waiting, input }));
  }

  async settle(step: number, result: ToolMessage): Promise<void> {
    if (step <= this.#row.step_count) return;
    await this.#write("tool.result", step, (head) => this.#steps.settle(head, step, result));
  }

  async wait(step: number, toolCallId: string, question?: QuestionRecord): Promise<void> {
    const { redact } = this.#options.cell.context;
    const asked = question && { question: questionText(question, redact) };
    await this.#write("tool.wait", step, () => this.#steps.changeCall(toolCallId, { status: "waiting", ...asked }));
  }

  async decide(step: number, change: Omit<CallChange, "runId">, message: AssistantMessage): Promise<void> {
    await this.#write("tool.decide", step, () => this.#steps.decide(step, change, message));
  }

  async step(record: StepRecord): Promise<void> {
    if (record.step <= this.#row.step_count) return;
    const kept = withKeptNotes(record, this.#options);
    await this.#write("step.commit", record.step, (head) => this.#steps.finish(head, kept));
    this.#row = { ...this.#row, step_count: record.step, error_count: this.#steps.errorCount };
    this.#costs.push(record.cost);
  }

  // Writes rows under the lease. Nothing is written if `make` returns undefined.
  async #write(label: WriteLabel, step: number, make: (head: SessionRow) => Written | undefined): Promise<void> {
    const { cell } = this.#options;
    if (this.#isOver) throw overError(this.runId);
    const written = await cell.update(label, async (head): Promise<Change<Written | undefined>> => {
      checkHeld(cell, head, { fence: this.#options.fence, row: this.#row });
      const rows = make(head);
      return { result: rows, ...(rows && { writes: rows.writes, ...(rows.head && { head: rows.head }) }) };
    });
    written?.onWritten();
    this.#noteDone(step, written?.writes ?? []);
  }

  #noteDone(step: number, writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.table !== "messages" || !("row" in write)) continue;
      const { seq, provider_parts } = write.row;
      const identity = rowIdentity(write.row as unknown as MessageRow);
      const providerParts =
        typeof provider_parts === "string" ? (JSON.parse(provider_parts) as JsonValue[]) : undefined;
      if (identity !== undefined) this.#done.set(identity, { seq: Number(seq), step, providerParts });
    }
  }

  // The head is as new as the last write, which every step makes. A subagent's run has no conversation of its own.
  async inbox(): Promise<readonly PendingMessage[]> {
    const { cell, release } = this.#options;
    return release === undefined || !cell.knownHead?.inbox_count ? [] : readInbox(cell);
  }

  async join(step: number, joining: readonly PendingMessage[], isBlocked: boolean): Promise<void> {
    const { cell, fence } = this.#options;
    if (this.#isOver) throw overError(this.runId);
    const place = { runId: this.runId, agent: this.#row.agent, step: step === 0 ? undefined : step, isBlocked };
    await cell.update("inbox.take", async (head): Promise<Change<void>> => {
      checkHeld(cell, head, { fence, row: this.#row });
      const appended = isBlocked ? [] : joining.map(({ message }) => message);
      return { result: undefined, ...joinRows(cell, head, { joining, place }), appended, isActive: true };
    });
  }

  onStop(listener: (reason: string) => void): void {
    this.#stopping.promise
      .then(() => findRun(this.#options.cell.context, this.runId))
      .then(
        (row) => this.#isOver || listener(row?.stop_requested ?? ""),
        () => listener(""),
      );
  }

  async end(end: RunEnd): Promise<EndRefusal | undefined> {
    if (this.#isEnded) return undefined;
    if (this.#isOver && this.#ending === undefined) throw overError(this.runId);
    this.#ending ??= this.#finish(end).finally(() => {
      this.#ending = undefined;
    });
    return this.#ending;
  }

  async #finish(end: RunEnd): Promise<EndRefusal | undefined> {
    const { cell, fence, release, onTotals } = this.#options;
    const refusal = await cell.update("run.end", async (head): Promise<Change<EndRefusal | undefined>> => {
      checkHeld(cell, head, { fence, row: this.#row });
      if (release === undefined) return this.#endChild(head, end);
      return refusalOf(head, end) ?? this.#endRun(head, end, await this.#stopReason(head));
    });
    if (refusal !== undefined) return refusal;
    this.#isOver = true;
    this.#isEnded = true;
    onTotals?.(this.runId, { usage: end.usage, cost: end.cost });
    this.#hold?.stop();
    return undefined;
  }

  // The request to stop has written its reason into the row of the run.
  async #stopReason(head: SessionRow): Promise<Pick<RunRow, "stop_requested"> | undefined> {
    if (!isAskedToStop(head)) return undefined;
    const row = await findRun(this.#options.cell.context, this.runId);
    return { stop_requested: row?.stop_requested ?? "" };
  }

  // One write: the answer joins the conversation, the run row becomes final, and the lease is released.
  #endRun(
    head: SessionRow,
    end: RunEnd,
    stopped: Pick<RunRow, "stop_requested"> | undefined,
  ): Change<EndRefusal | undefined> {
    const { cell, resumed } = this.#options;
    const redact = redactOnce(cell.context.redact, resumed?.record);
    const answer = withoutSaid(end.answer, resumed?.said).map((given) => {
      const message = frozenCopy(redact === undefined ? given : redact(given));
      // A message that was written with its call has a row already.
      const isWritten = this.#done.has(identityOf(given) ?? "");
      const isInLastStep = !isWritten && end.lastStep?.messages.some((each) => isSame(given, each)) === true;
      return { given, message, isInLastStep };
    });
    const before = answer.filter(({ isInLastStep }) => !isInLastStep);
    const moved = this.#moveToSaid(head, before);
    const last = this.#lastRows(moved.head, end);
    for (const { given, message } of answer) copyRef(cell, given, message);
    const row = { ...this.#endedRow(end, last), ...stopped };
    const next = { ...touch(releaseLease(last.head)), last_status: row.status };
    const open = hasEnded(row.status) && last.step === 0 ? this.#steps.interruptCalls() : [];
    const writes: Write[] = [...moved.writes, ...last.writes, ...open, { table: "runs", row }];
    const appended = answer.map(({ message }) => message);
    return { result: undefined, writes, head: next, isActive: true, appended };
  }

  // Makes the row of a subagent's run final, unless the run had already ended. Its answer is part of no conversation.
  #endChild(head: SessionRow, end: RunEnd): Change<EndRefusal | undefined> {
    const last = this.#lastRows(head, { ...end, answer: [] });
    const runs: Write[] = hasEnded(this.#row.status) ? [] : [{ table: "runs", row: this.#endedRow(end, last) }];
    return { result: undefined, writes: [...last.writes, ...runs], head: last.head };
  }

  #endedRow(end: RunEnd, { step: lastStep, errorCount }: LastRows): RunRow {
    const { redact } = this.#options.cell.context;
    const kept = withKeptNotes(redact === undefined ? end : redactEnd(redact, end), this.#options);
    const counts = { step_count: Math.max(this.#row.step_count, lastStep), error_count: errorCount };
    const stepCost = sumOf([...this.#costs, ...(lastStep > this.#row.step_count ? [end.lastStep?.cost] : [])]);
    const row = { ...this.#row, ...counts };
    return endRun(row, kept, { stepCost, beneath: [...this.#beneath.values()] });
  }

  // The rows written beside the run row: the last step with the answer, the input of a failed call, or spans.
  #lastRows(head: SessionRow, { lastStep, answer, spans = [], failedInput }: RunEnd): LastRows {
    if (lastStep !== undefined && lastStep.step > this.#row.step_count) {
      const said = new Map<Message, Message>();
      const messages = lastStep.messages.map((message) => {
        const given = answer.find((each) => isSame(each, message));
        const kept = given === undefined ? message : withProviderParts(given, message);
        if (given !== undefined) said.set(kept, given);
        return kept;
      });
      const all = { ...lastStep, messages, spans: [...(lastStep.spans ?? []), ...spans] };
      const record = withKeptNotes(all, this.#options);
      const isSaid = (message: Message) => said.has(message);
      const { head: next, writes, errorCount } = this.#steps.finish(head, record, isSaid);
      for (const [kept, given] of said) copyRef(this.#options.cell, kept, given);
      return { head: next, writes, step: lastStep.step, errorCount };
    }
    const failed = (failedInput && this.#steps.unfinished(failedInput)?.writes) ?? [];
    return { head, writes: [...failed, ...this.#steps.spans(spans)], step: 0, errorCount: this.#steps.errorCount };
  }

  // With `persist: "everything"`, messages that were done become part of what was said: their rows get a position.
  #moveToSaid(
    head: SessionRow,
    answer: readonly { message: Message; given: Message }[],
  ): { head: SessionRow; writes: Write[] } {
    const { cell } = this.#options;
    const { run_id: runId, agent, namespace, session_id: sessionId } = this.#row;
    return answer.reduce<{ head: SessionRow; writes: Write[] }>(
      ({ head: before, writes }, { message, given }) => {
        const known = this.#done.get(identityOf(given) ?? "");
        if (known === undefined) {
          const added = appendRows(cell, before, [{ message, given, run: { runId, agent, step: 0 }, isSaid: true }]);
          return { head: added.head, writes: [...writes, ...added.writes] };
        }
        const { next_position: position, message_count } = before;
        const run = { runId, agent, step: known.step };
        const whole =
          known.providerParts === undefined ? message : withMetadata(message, { providerParts: known.providerParts });
        const place = { namespace, sessionId, seq: known.seq, position, run, hasher: cell.hasher };
        cell.refs.set(given, place);
        const { put } = storeMessage(whole, place);
        const next = { ...before, next_position: position + 1, message_count: message_count + 1 };
        return { head: next, writes: [...writes, put] };
      },
      { head, writes: [] },
    );
  }

  async child(start: NewRun): Promise<RunLog> {
    const { cell, fence } = this.#options;
    const known = await findToResume(cell, start.runId);
    const resumed = known && (await readToResume(cell, known));
    const begun = await cell.update("run.child", async (head) => {
      checkHeld(cell, head, { fence, row: this.#row });
      return known === undefined ? this.#beginChild(head, start) : resumeChild(known);
    });
    begun.onWritten?.();
    const row = await withSeq(cell, begun.row);
    const onTotals = (runId: string, totals: Totals): void => {
      this.#beneath.set(runId, totals);
    };
    this.#subagents.add(row.run_id);
    return new StoredRun({ cell, row, fence, history: [], resumed, onTotals, subagents: this.#subagents });
  }

  #beginChild(head: SessionRow, start: NewRun): Change<BegunChild> {
    const { run_id, root_run_id } = this.#row;
    const rootRunId = root_run_id ?? run_id;
    const begun = beginRun(this.#options.cell, head, { start: { ...start, parentRunId: run_id }, rootRunId });
    const call = this.#steps.changeCall(start.parentToolCallId, { child_run_id: start.runId });
    return {
      result: { row: begun.row, onWritten: call.onWritten },
      head: begun.head,
      writes: [...begun.writes, ...call.writes],
      withNumber: (result, seq) => ({ ...result, row: { ...result.row, seq } }),
    };
  }

  async abandon(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#hold?.release();
  }
}

// A subagent's run that ended stays ended when its parent is resumed.
function resumeChild(known: RunRow): Change<BegunChild> {
  if (hasEnded(known.status)) return { result: { row: known } };
  const row = reopenRow(known);
  return { result: { row }, writes: [{ table: "runs", row }] };
}

interface BegunChild {
  readonly row: RunRow;
  readonly onWritten?: () => void;
}

interface DoneMessage {
  readonly seq: number;
  readonly step: number;
  readonly providerParts: readonly JsonValue[] | undefined;
}

interface LastRows {
  readonly head: SessionRow;
  readonly writes: readonly Write[];
  /** The number of the last step; 0 if there is none to write. */
  readonly step: number;
  /** The number of calls that failed, in all steps. */
  readonly errorCount: number;
}

function overError(runId: string): OffstageError {
  return new OffstageError("session-conflict", `Run "${runId}" has ended; nothing was written.`);
}

// Redacts the notes of a step or an end.
function withKeptNotes<Part extends StepRecord | RunEnd>(
  part: Part,
  { cell, history, resumed }: StoredRunOptions,
): Part {
  const { redact } = cell.context;
  if (redact === undefined || part.notes === undefined) return part;
  return { ...part, notes: redactNotes(redact, part.notes, { history, recorded: resumed?.record }) };
}
