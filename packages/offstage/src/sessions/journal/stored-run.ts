// The log of one run on a store. Every write is fenced by the lease of the session.
import { OffstageError } from "../../errors.ts";
import type { AssistantMessage, Message, ToolMessage } from "../../messages/message.ts";
import { noUsage } from "../../tokens/usage.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import { putNewContent, touch } from "../conversation/conversation.ts";
import { joinMessages, readInbox } from "../conversation/inbox.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import { isAskedToStop, type Lease, releaseLease } from "../lease/lease.ts";
import type { CallChange, EndRefusal, HeldSession, NewRun, RunEnd, RunLog, StepInput } from "../ports/journal.ts";
import type { QuestionRecord, RunRecord, StepRecord } from "../ports/run-record.ts";
import type { PendingMessage } from "../ports/session.ts";
import type { WriteLabel } from "../ports/store-driver.ts";
import type { MessageRow, RunRow, ToolCallRow } from "../ports/tables.ts";
import { cacheTrace, findRun, readToolTraces } from "../records/run-reader.ts";
import { contentOf } from "../rows/message-row.ts";
import { questionText, storedText } from "../rows/question.ts";
import {
  type MessageRedactor,
  messagesIn,
  redactEnd,
  redactOnce,
  redactSpans,
  redactStep,
  redactValue,
} from "../rows/redaction.ts";
import { isOpenCall, putSpans, stepRow, type Totals, totalsOf } from "../rows/run-row.ts";
import { findToResume, type ResumedRun, readToResume } from "./resumed-run.ts";
import { type Answer, endRun, hasEnded, putAnswer, putNewRun, refusalOf, reopenRow, withSeq } from "./run-rows.ts";
import {
  callsOf,
  changedCall,
  decidedCall,
  nameOf,
  newStep,
  type OpenStep,
  putInput,
  putStepChange,
  redactedEdit,
  type StepChange,
  settledCall,
} from "./step-rows.ts";

/** A run keeps at most so many rows of its messages, for the tool history of the next run. */
const mostWritten = 64;

/** An open run. */
export interface StoredRunOptions {
  readonly row: RunRow;
  readonly lease: Lease;
  readonly history: readonly Message[];
  readonly earlierCount?: number | undefined;
  /** The record from before the run was resumed. */
  readonly resumed?: ResumedRun | undefined;
  /** The messages of the inbox that the run took in when it began. */
  readonly joined?: readonly Message[] | undefined;
  /** The session that the run holds, and the run that started it: one of them is set. */
  readonly held?: HeldSession | undefined;
  readonly parent?: StoredRun | undefined;
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
  readonly #cell: SessionCell;
  readonly #lease: Lease;
  readonly #parent: StoredRun | undefined;
  /** Leaves messages that were read from the store as they are: they are redacted already. */
  readonly #redact: MessageRedactor | undefined;
  readonly #readBefore: ReadonlySet<Message>;
  /** The runs of subagents that the outermost run and those below it have started. */
  readonly #subagents: Set<string>;
  /** The totals of subagents' runs, by run id. */
  readonly #beneath: Map<string, Totals>;
  /** The costs of the steps that are written. */
  readonly #costs: (number | undefined)[];
  #row: RunRow;
  /** The step under way, as it is stored. */
  #step: OpenStep;
  /** The rows of the messages of all steps, by seq; undefined if there are too many to keep, for a resumed run and for a subagent's. */
  #written: Map<number, MessageRow> | undefined;
  #state: "open" | "ended" | "abandoned" = "open";
  #ending: Promise<EndRefusal | undefined> | undefined;

  constructor(cell: SessionCell, options: StoredRunOptions) {
    const { row, lease, resumed, parent } = options;
    const record = resumed?.record;
    this.runId = row.run_id;
    this.namespace = cell.namespace;
    this.history = options.history;
    this.earlierCount = options.earlierCount;
    this.held = options.held;
    this.recorded = record;
    this.joined = options.joined ?? [];
    this.#cell = cell;
    this.#lease = lease;
    this.#parent = parent;
    const { redact } = cell.context;
    this.#redact = redact && record ? redactOnce(redact, record) : redact;
    this.#readBefore = new Set(redact && messagesIn(record));
    this.#subagents = parent === undefined ? new Set() : parent.#subagents.add(row.run_id);
    const children = resumed?.children.map((child) => [child.run_id, totalsOf(child)] as const) ?? [];
    this.#beneath = new Map(children.flatMap(([runId, totals]) => (totals ? [[runId, totals]] : [])));
    this.#costs = record?.steps.map(({ cost }) => cost) ?? [];
    // The row of a run that was interrupted does not count its steps.
    this.#row = record ? { ...row, step_count: record.stepCount, error_count: record.errorCount } : row;
    this.#step = resumed?.step ?? newStep();
    this.#written = resumed === undefined && parent === undefined ? new Map() : undefined;
  }

  questionText(text: string): string {
    return storedText(text, this.#cell.context.redact);
  }

  toolTraces(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly Message[]>> {
    return readToolTraces(this.#cell, runIds);
  }

  async intend(
    step: number,
    message: AssistantMessage,
    waiting: readonly string[] = [],
    input?: StepInput,
  ): Promise<void> {
    await this.#change("tool.intent", step, (change) => {
      if (this.#step.messages.has("reply")) return {};
      const ref = input && this.#putUnfinished(change, input);
      change.onStored.push(() => {
        this.#step.inputRef = ref;
      });
      return { messages: [message], calls: callsOf(this.#stored(message), { row: this.#row, step, waiting }) };
    });
  }

  async settle(step: number, result: ToolMessage): Promise<void> {
    await this.#change("tool.result", step, () => {
      if (this.#step.messages.has(nameOf(result) ?? "")) return {};
      const call = this.#step.calls.get(result.tool_call_id);
      return { messages: [result], calls: call && [settledCall(call, result)] };
    });
  }

  async wait(step: number, toolCallId: string, question?: QuestionRecord): Promise<void> {
    const asked = question && { question: questionText(question, this.#cell.context.redact) };
    await this.#change("tool.wait", step, () => changedCall(this.#step, toolCallId, { status: "waiting", ...asked }));
  }

  async decide(step: number, change: Omit<CallChange, "runId">, reply: AssistantMessage): Promise<void> {
    const { redact } = this.#cell.context;
    const stored = redactedEdit(redact, reply);
    const decided = () => decidedCall(this.#step, change, { reply, stored, redact });
    await this.#change("tool.decide", step, decided, () => stored);
  }

  // Changes the step under way. A finished step stays as it is.
  async #change(
    label: WriteLabel,
    step: number,
    make: (change: Change) => StepChange,
    redact?: MessageRedactor,
  ): Promise<void> {
    if (step <= this.#row.step_count) return;
    await this.#write(label, async (change) => this.#putChange(change, step, make(change), redact));
  }

  #write<T>(label: WriteLabel, make: (change: Change) => Promise<T>): Promise<T> {
    return this.#cell.update(label, async (change) => {
      if (this.#state !== "open")
        throw new OffstageError("session-conflict", `Run "${this.runId}" has ended; nothing was written.`);
      this.#lease.check(change.head);
      return make(change);
    });
  }

  // Puts a change of the step under way. Returns the row of the run after it, which is not put.
  #putChange(change: Change, step: number, changed: StepChange, redact = this.#redact): RunRow {
    const run = { runId: this.runId, agent: this.#row.agent, step };
    putStepChange(this.#cell, change, changed, { step: this.#step, run, redact });
    const isNewError = ({ call_id, status }: ToolCallRow) =>
      status === "error" && this.#step.calls.get(call_id)?.status !== "error";
    const failed = changed.calls?.filter(isNewError).length ?? 0;
    const row = { ...this.#row, error_count: this.#row.error_count + failed };
    const rows = change.writes.flatMap((write) =>
      write.table === "messages" && "row" in write ? [write.row as unknown as MessageRow] : [],
    );
    change.onStored.push(() => {
      this.#row = row;
      for (const each of rows) this.#written?.set(each.seq, each);
      if (this.#written !== undefined && this.#written.size > mostWritten) this.#written = undefined;
    });
    return row;
  }

  #stored(message: Message): Message {
    return this.#redact?.(message) ?? message;
  }

  // The row of a step that is not finished: it has an input or failed attempts, and no finish reason.
  #putUnfinished(change: Change, { step, startedAt, input, retries }: StepInput): string | undefined {
    const ref = putInput(this.#cell, change, input, this.#readBefore);
    if (ref === undefined && retries === undefined) return undefined;
    const { modelId: model, provider } = input.setup;
    const call = { step, messages: [], usage: noUsage, finishReason: "", startedAt, durationMs: 0, model, provider };
    const row = { ...stepRow(this.#row, this.#redactedStep({ ...call, retries }), ref), finish_reason: null };
    change.writes.push({ table: "steps", row });
    return ref;
  }

  #redactedStep(record: StepRecord): StepRecord {
    const { redact } = this.#cell.context;
    return redact === undefined ? record : redactStep(redact, record, this);
  }

  async step(record: StepRecord): Promise<void> {
    if (record.step <= this.#row.step_count) return;
    await this.#write("step.commit", async (change) => this.#finishStep(change, record));
  }

  // Puts a finished step, without those of its messages that were put with the answer.
  #finishStep(change: Change, record: StepRecord, said: ReadonlySet<Message> = new Set()): RunRow {
    const { step, messages, cost } = record;
    const { inputRef } = this.#step;
    const fresh = messages.filter((each) => !said.has(each));
    const saved = this.#putChange(change, step, { messages: fresh, calls: this.#finishCalls(change, record) });
    const row = { ...saved, step_count: step };
    const ref = putInput(this.#cell, change, record.input, this.#readBefore) ?? inputRef;
    change.writes.push({ table: "steps", row: stepRow(this.#row, this.#redactedStep(record), ref) });
    this.#putSpans(change, record.spans);
    change.onStored.push(() => {
      this.#row = row;
      this.#step = newStep();
      this.#costs.push(cost);
    });
    return row;
  }

  // The calls of a finished step that are not stored yet, or not with their results. Puts the full values of clipped results.
  #finishCalls(change: Change, { step, messages, values = {} }: StepRecord): ToolCallRow[] {
    const { redact } = this.#cell.context;
    const reply = messages.find(({ role }) => role === "assistant");
    const calls = [...this.#step.calls.values()];
    if (calls.length === 0 && reply !== undefined)
      calls.push(...callsOf(this.#stored(reply), { row: this.#row, step }));
    const results = new Map(messages.flatMap((each) => (each.role === "tool" ? [[each.tool_call_id, each]] : [])));
    const finished = calls.map((call) => {
      const result = results.get(call.call_id);
      if (result === undefined) return call;
      const settled = settledCall(call, result);
      const whole = values[call.call_id];
      if (whole === undefined) return settled;
      const value = redact === undefined ? whole : redactValue(redact, whole, result);
      const content = contentOf(JSON.stringify(value), this.#cell.hasher);
      putNewContent(this.#cell, change, content);
      return { ...settled, result_ref: content.hash };
    });
    return finished.filter((call) => this.#step.calls.get(call.call_id) !== call);
  }

  #putSpans({ writes }: Change, spans: readonly SpanData[] = []): void {
    const { redact, report } = this.#cell.context;
    const kept = redact === undefined ? spans : redactSpans(redact, spans, report);
    const owner = { namespace: this.namespace, sessionId: this.#cell.id, runId: this.runId };
    writes.push(...putSpans(owner, kept, this.#subagents));
  }

  // The head is as new as the last write, which every step makes. A subagent's run has no conversation of its own.
  async inbox(): Promise<readonly PendingMessage[]> {
    return this.held === undefined || !this.#cell.knownHead?.inbox_count ? [] : readInbox(this.#cell);
  }

  async join(step: number, joining: readonly PendingMessage[], isBlocked: boolean): Promise<void> {
    const place = { runId: this.runId, agent: this.#row.agent, step: step === 0 ? undefined : step, isBlocked };
    await this.#write("inbox.take", async (change) => {
      joinMessages(this.#cell, change, joining, place);
      change.appended = isBlocked ? [] : joining.map(({ message }) => message);
    });
  }

  onStop(listener: (reason: string) => void): void {
    // A subagent's run is stopped by its parent.
    if (this.held === undefined) return;
    this.#lease.stopRequested
      .then(() => findRun(this.#cell.context, this.runId))
      .then(
        (row) => this.#state !== "open" || listener(row?.stop_requested ?? ""),
        () => listener(""),
      );
  }

  async end(end: RunEnd): Promise<EndRefusal | undefined> {
    if (this.#state === "ended") return undefined;
    this.#ending ??= this.#write("run.end", (change) => this.#putEnd(change, end)).finally(() => {
      this.#ending = undefined;
    });
    const refusal = await this.#ending;
    const written = this.#written;
    if (refusal !== undefined || written === undefined) return refusal;
    this.#written = undefined;
    // If that fails, the next run reads the trace.
    if (end.status === "completed") await cacheTrace(this.#cell, this.runId, [...written.values()]).catch(() => {});
    return refusal;
  }

  // One write: the answer joins the conversation, the row of the run becomes final, and the lease is released. A subagent's answer is
  // part of no conversation, and its run stays as it is if it had ended before its parent was resumed.
  async #putEnd(change: Change, end: RunEnd): Promise<EndRefusal | undefined> {
    const isRoot = this.#parent === undefined;
    const refusal = isRoot ? refusalOf(change.head, end) : undefined;
    if (refusal !== undefined) return refusal;
    const asked = isRoot && isAskedToStop(change.head);
    const { lastStep, failedInput, spans = [] } = end;
    const isNew = lastStep !== undefined && lastStep.step > this.#row.step_count;
    const answer: Answer = { messages: isRoot ? end.answer : [], lastStep: isNew ? lastStep : undefined };
    const run = { runId: this.runId, agent: this.#row.agent };
    const said = await putAnswer(this.#cell, change, answer, { step: this.#step, run, redact: this.#redact });
    const stepCosts = [...this.#costs];
    let row = this.#row;
    if (isNew) {
      row = this.#finishStep(change, { ...lastStep, spans: [...(lastStep.spans ?? []), ...spans] }, said);
      stepCosts.push(lastStep.cost);
    } else {
      if (failedInput !== undefined) this.#putUnfinished(change, failedInput);
      if (hasEnded(end.status)) this.#interruptCalls(change);
      this.#putSpans(change, spans);
    }
    const { redact } = this.#cell.context;
    const ended = endRun(row, redact === undefined ? end : redactEnd(redact, end, this), {
      stepCosts,
      beneath: [...this.#beneath.values()],
    });
    // The request to stop has written its reason into the row of the run.
    const stopped = asked && { stop_requested: (await findRun(this.#cell.context, this.runId))?.stop_requested ?? "" };
    if (isRoot || !hasEnded(row.status)) change.writes.push({ table: "runs", row: { ...ended, ...stopped } });
    if (isRoot) {
      change.head = { ...releaseLease(change.head), last_status: end.status };
      touch(change);
    }
    change.onStored.push(() => {
      this.#state = "ended";
      if (this.#parent === undefined) this.#lease.end();
      else this.#parent.#beneath.set(this.runId, { usage: end.usage, cost: end.cost });
    });
    return undefined;
  }

  // A run that ends here and is never resumed: its calls without a result get none.
  #interruptCalls({ writes }: Change): void {
    for (const call of this.#step.calls.values())
      if (isOpenCall(call.status)) writes.push({ table: "tool_calls", row: { ...call, status: "interrupted" } });
  }

  async child(start: NewRun): Promise<RunLog> {
    const cell = this.#cell;
    const known = await findToResume(cell, start.runId);
    const resumed = known && (await readToResume(cell, known));
    const { row } = await this.#write("run.child", async (change) => {
      if (known !== undefined) return resumeChild(change, known);
      const begun = putNewRun(cell, change, { ...start, parentRunId: this.runId }, { rootRunId: this.#lease.runId });
      this.#putChange(change, 0, changedCall(this.#step, start.parentToolCallId, { child_run_id: start.runId }));
      return begun;
    });
    return new StoredRun(cell, {
      row: await withSeq(cell, row),
      lease: this.#lease,
      history: [],
      resumed,
      parent: this,
    });
  }

  async abandon(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "abandoned";
    if (this.#parent === undefined) await this.#lease.release();
  }
}

// A subagent's run that ended stays ended when its parent is resumed.
function resumeChild({ writes }: Change, known: RunRow): { readonly row: RunRow } {
  if (hasEnded(known.status)) return { row: known };
  const row = reopenRow(known);
  writes.push({ table: "runs", row });
  return { row };
}
