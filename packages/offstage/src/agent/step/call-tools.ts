// The tools of one step: each in a span, journaled, watched by guardrails, its events told. Results come in call order.

import type { Cancellation } from "../../base/cancellation.ts";
import { errorType } from "../../base/cancellation.ts";
import { keepShape } from "../../base/keep-shape.ts";
import { messageOf } from "../../errors.ts";
import type { ToolMessage } from "../../messages/message.ts";
import type { AgentContext } from "../../state/agent-context.ts";
import type { WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import type { CallSite, ToolGuard } from "../../tools/admit-call.ts";
import { runTool } from "../../tools/run-tool.ts";
import { runTools } from "../../tools/run-tools.ts";
import { alwaysAsks, type Tool, type ToolRunOptions } from "../../tools/tool.ts";
import { ToolWaiting } from "../../tools/tool-answer.ts";
import { startSpan, type TraceSpan } from "../../tracing/trace-span.ts";
import { runInSpan } from "../../tracing/with-span.ts";
import { checkGuardrails, type GuardrailTrip } from "../ports/guardrails.ts";
import { type CallingTool, callerKey } from "../run/calling-tool.ts";
import type { Run } from "../run/run.ts";
import { resultMessage } from "../run/step-messages.ts";

export interface CallToolsOptions {
  readonly step: number;
  readonly span: TraceSpan;
  /** The step is journaled as soon as the call is done: its result is written with it. */
  readonly isWrittenWithStep?: boolean;
  /** What is known of calls that waited before. */
  readonly waiting?: ReadonlyMap<string, WaitingCall>;
}

/** What a call came to: the whole of it, and the message the model sees. */
export interface SettledCall {
  readonly result: ToolResult;
  readonly message: ToolMessage;
}

/** A call that has no result yet. */
export interface UnsettledCall {
  readonly waiting: WaitingCall;
}

export type CalledTool = SettledCall | UnsettledCall;

export function isWaiting(called: CalledTool): called is UnsettledCall {
  return "waiting" in called;
}

/** What became of the calls. Rejects only when the run is aborted or a guardrail fails. */
export function callTools(run: Run, calls: readonly StepToolCall[], at: CallToolsOptions): Promise<CalledTool[]> {
  // Results are numbered in call order, whichever comes first.
  const first = run.lastNumber + 1;
  run.lastNumber += calls.length;
  const callOne = (call: StepToolCall, index: number) => callTool(run, call, { at, number: first + index });
  return runTools(calls, run.config.maxParallelTools, callOne);
}

/** What became of a call that is alone in its step, as most are: the same, with fewer promises. */
export function callAlone(run: Run, call: StepToolCall, at: CallToolsOptions): Promise<CalledTool> {
  run.lastNumber++;
  return callTool(run, call, { at, number: run.lastNumber });
}

interface NumberedCall {
  readonly at: CallToolsOptions;
  /** The number of its result among the run's messages. */
  readonly number: number;
}

async function callTool(run: Run, call: StepToolCall, { at, number }: NumberedCall): Promise<CalledTool> {
  const { step } = at;
  run.cancellation.throwIfAborted();
  const span = run.isTraced
    ? startSpan(at.span, { name: spanName(run, call), kind: "tool", metadata: { toolCallId: call.toolCallId } })
    : at.span;
  const before = at.waiting?.get(call.toolCallId);
  // Decided or not is a matter of the call that waits, whatever tools the agent has by now.
  if (before?.why === "approval" && before.child === undefined && run.decisions.permit(call, run.runId) === "wait")
    return unsettled(span, call, new ToolWaiting());
  const site = new ToolSite({ step, span, toolCallId: call.toolCallId, run, before }, call);
  if (run.emit !== undefined && run.config.tools.get(call.toolName)?.needsApproval === false) site.started();
  try {
    const result =
      unrunnable(call, before) ?? (await (run.isTraced ? runToolTraced(span, call, site) : runTool(call, site)));
    if (result instanceof ToolWaiting) {
      // Whatever the other calls do until the run ends, this one has not begun. Where its tool always asks, the intent said so.
      if (result.child === undefined && !alwaysAsks(run.config.tools.get(call.toolName)))
        await run.log?.wait(step, call.toolCallId);
      return unsettled(span, call, result);
    }
    if (run.emit !== undefined) site.started();
    const message = resultMessage(run, result, { step, span, number });
    run.underWay?.push(message);
    if (run.log !== undefined && !at.isWrittenWithStep) await run.log.settle(step, message);
    if (run.isTraced) finishSpan(span, call, { result, message });
    run.emit?.({ type: "tool-end", ...place(run, call, step), result });
    return { result, message };
  } catch (error) {
    span.fail(error, run.cancellation.signal);
    throw error;
  }
}

// A name that the model made up may say anything, and names of spans leave the process.
function spanName({ config }: Run, { toolName }: StepToolCall): string {
  return config.tools.has(toolName) ? toolName : "unknown_tool";
}

// Apart, so that no closure is made where nothing is recorded.
function runToolTraced(span: TraceSpan, call: StepToolCall, site: CallSite): ReturnType<typeof runTool> {
  return runInSpan(span, () => runTool(call, site));
}

/** The run around one call. */
class ToolSite implements CallSite {
  declare readonly tools: ReadonlyMap<string, Tool>;
  declare readonly cancellation: Cancellation;
  declare readonly guard: ToolGuard | undefined;
  readonly #run: Run;
  readonly #call: StepToolCall;
  readonly #caller: CallingTool;
  #hasStarted = false;

  constructor(caller: CallingTool, call: StepToolCall) {
    const { run } = caller;
    this.tools = run.config.tools;
    this.cancellation = run.cancellation;
    const { toolInput, toolOutput } = run.config.guardrails;
    this.guard = toolInput.length + toolOutput.length === 0 ? undefined : guardOf(run, caller.step);
    this.#run = run;
    this.#call = call;
    this.#caller = caller;
  }

  get hasBegun(): boolean {
    return this.#caller.before?.child !== undefined;
  }

  about(cancellation: Cancellation): ToolRunOptions {
    return new CallInfo(this.#caller, cancellation);
  }

  permit(call: StepToolCall): ReturnType<CallSite["permit"]> {
    // A decision is about a call that waited: no other, whatever id a model gives it, has anybody's word.
    return this.#caller.before === undefined ? "wait" : this.#run.decisions.permit(call, this.#run.runId);
  }

  unasked(error: unknown): void {
    const { runId, config, emit } = this.#run;
    const { toolName } = this.#call;
    emit?.({ type: "error", runId, agent: config.name, error, source: "needsApproval" });
    const sentence = `"needsApproval" of the tool "${toolName}" threw, so the call waits for approval: ${messageOf(error)}`;
    process.emitWarning(sentence, { type: "OffstageWarning" });
  }

  /** Tells once that the call began; one that must be approved first begins when it is. */
  started(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#run.emit?.({ type: "tool-start", ...place(this.#run, this.#call, this.#caller.step), call: this.#call });
  }
}

function unsettled(span: TraceSpan, call: StepToolCall, { child }: ToolWaiting): UnsettledCall {
  if (span.recording) span.setMetadata({ isWaiting: true });
  span.end("cancelled");
  return {
    waiting: { toolCallId: call.toolCallId, why: "approval", ...(child === undefined ? undefined : { child }) },
  };
}

// What the model reads of a call that was taken up again and must not run.
function unrunnable(call: StepToolCall, before: WaitingCall | undefined): ToolResult | undefined {
  if (before?.why === "interrupted")
    return notRun(
      call,
      `The call of the tool "${call.toolName}" was interrupted: whether it took effect is unknown. Check before you call it again.`,
    );
  if (call.isRedacted !== true || before?.child !== undefined) return undefined;
  const was = before?.why === "again" ? "was interrupted and is not run again" : "was not run";
  return notRun(
    call,
    `The tool "${call.toolName}" ${was}: its arguments were redacted when the call was recorded. Call it again if that is still wanted.`,
  );
}

function notRun({ toolCallId, toolName }: StepToolCall, text: string): ToolResult {
  return { toolCallId, toolName, output: text, content: text, isError: true, durationMs: 0 };
}

function place(run: Run, call: StepToolCall, step: number) {
  return { runId: run.runId, agent: run.config.name, step, toolCallId: call.toolCallId, toolName: call.toolName };
}

/** What a tool is told. Its signal is made when it asks for it. */
class CallInfo implements ToolRunOptions {
  declare readonly [callerKey]: CallingTool;
  declare readonly toolCallId: string;
  declare readonly runId: string;
  declare readonly step: number;
  declare readonly agent: string;
  declare readonly context: AgentContext;
  readonly #cancellation: Cancellation;

  constructor(caller: CallingTool, cancellation: Cancellation) {
    const { run, step, toolCallId } = caller;
    this[callerKey] = caller;
    this.toolCallId = toolCallId;
    this.runId = run.runId;
    this.step = step;
    this.agent = run.config.name;
    this.context = run.context;
    this.#cancellation = cancellation;
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }
}

// Never used: only their shapes matter.
keepShape(
  new ToolSite(
    { run: { config: { guardrails: { toolInput: [], toolOutput: [] } } } } as unknown as CallingTool,
    {} as StepToolCall,
  ),
);
keepShape(new CallInfo({ run: { config: {} } } as CallingTool, {} as Cancellation));

function finishSpan(span: TraceSpan, call: StepToolCall, { result, message }: SettledCall): void {
  span.setMetadata({ messageId: message.metadata?.id, isError: result.isError });
  if (result.error !== undefined) span.setMetadata({ errorType: errorType(result.error) });
  if (span.keepsContent) span.setContent({ inputText: call.inputText, output: result.output });
  span.end(result.isError ? "error" : "ok");
}

function guardOf(run: Run, step: number): ToolGuard {
  const { toolInput, toolOutput } = run.config.guardrails;
  const { context, cancellation, runId, config } = run;
  const about = { context, signal: cancellation.signal, runId, agent: config.name };
  const blocked = (call: StepToolCall, trips: readonly GuardrailTrip[]) => blockedBy(run, trips, { step, call });
  return {
    input: async (call, input) =>
      blocked(call, await checkGuardrails(toolInput, { call, input }, { ...about, stage: "toolInput" })),
    output: async (call, result) =>
      blocked(call, await checkGuardrails(toolOutput, { call, result }, { ...about, stage: "toolOutput" })),
  };
}

// The model is told that the call was blocked; the run goes on.
function blockedBy(
  run: Run,
  trips: readonly GuardrailTrip[],
  { step, call }: { step: number; call: StepToolCall },
): string | undefined {
  for (const trip of trips) tripped(run, { ...trip, toolCallId: call.toolCallId }, step);
  return trips.length === 0 ? undefined : trips.map((trip) => trip.message).join("\n");
}

/** Keeps and tells one trip. */
export function tripped(run: Run, trip: GuardrailTrip, step?: number): void {
  run.trips.push(trip);
  const about = { runId: run.runId, agent: run.config.name, ...(step === undefined ? undefined : { step }) };
  run.emit?.({ type: "guardrail-trip", ...about, trip });
}
