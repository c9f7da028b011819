// Runs the tool calls of a step. Each call gets a span, guardrails, journal entries and events. Results are in call order.
import { type Cancellation, errorType } from "../../base/cancellation.ts";
import type { JsonValue } from "../../base/json.ts";
import { warn } from "../../base/warn.ts";
import { messageOf } from "../../errors.ts";
import { withEditNote } from "../../messages/message.ts";
import { textWithMarkers } from "../../models/content-parts.ts";
import { byCallId, type WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import { type CallSite, runTool, runTools, type ToolGuard } from "../../tools/run-tool.ts";
import type { ToolRunOptions } from "../../tools/tool.ts";
import { ToolWaiting } from "../../tools/tool-answer.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import { type CallingTool, callerKey } from "../run/calling-tool.ts";
import { guard } from "../run/guard.ts";
import { type Run, setupOf } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";
import { type CalledTools, resultMessage, type SettledCall, type UnsettledCall } from "./make-step.ts";

export interface CallToolsOptions extends StepPlace {
  /** Calls of a resumed step that waited or were interrupted. */
  readonly before?: readonly WaitingCall[];
}

/** Runs the calls of a step. Rejects only if the run is aborted, or if a guardrail or the journal fails. */
export function callTools(
  run: Run,
  calls: readonly StepToolCall[],
  { step, span, before = [] }: CallToolsOptions,
): Promise<CalledTools> {
  // Results are numbered in call order, whichever call finishes first.
  const first = run.record.reserve(calls.length);
  const waited = byCallId(before);
  return runTools(calls, run.agent.maxParallelTools, (call, index) =>
    callTool(run, call, { step, span, number: first + index, before: waited.get(call.toolCallId) }),
  );
}

interface CallPlace extends StepPlace {
  /** The number of the result among the run's messages. */
  readonly number: number;
  /** Set if the call waited or was interrupted before the run was resumed. */
  readonly before: WaitingCall | undefined;
}

function callTool(run: Run, call: StepToolCall, place: CallPlace): Promise<SettledCall | UnsettledCall> {
  const { record, scope } = run;
  const { step, before } = place;
  // Hooks and guardrails get the call before it runs, and must not change it.
  Object.freeze(call);
  // The model may invent any name, and span names leave the process.
  const name = setupOf(run).tools.has(call.toolName) ? call.toolName : "unknown_tool";
  const init = { name, kind: "tool" as const, metadata: { toolCallId: call.toolCallId } };
  return record.inStepPart(place, init, async (span) => {
    scope.cancellation.throwIfAborted();
    const at = { ...place, span };
    const site = callSite(run, call, at);
    const made = resultWithoutRun(run, call, before) ?? (await runTool(call, site));
    if (made instanceof ToolWaiting) return recordWaiting(run, call, { at, child: made.child, before });
    const result = call.isEdited ? { ...made, content: withEditNote(made.content) } : made;
    site.started();
    const message = resultMessage(run, call, { ...at, result });
    await record.settle(at, message);
    endSpan(span, call, { result, message });
    const { toolCallId, toolName } = result;
    record.emit({ type: "tool-end", step, toolCallId, toolName, result });
    return { result, message };
  });
}

function callSite(run: Run, call: StepToolCall, { step, span, before }: CallPlace): CallSite {
  const { scope, record, request, identity } = run;
  const { toolCallId, toolName } = call;
  const caller: CallingTool = { run, step, span, toolCallId, before };
  let hasStarted = false;
  return {
    tools: setupOf(run).tools,
    cancellation: scope.cancellation,
    guard: guardOf(run, step),
    hasBegun: before?.child !== undefined,
    about: (cancellation) => toolRunOptions(caller, cancellation),
    // A decision applies to the call that waited, not to a new call with the same id.
    permit: (asked) => (before === undefined ? "wait" : request.decisions.permit(asked, identity.runId)),
    unasked(error) {
      record.emit({ type: "error", error, source: "needsApproval" });
      warn(`"needsApproval" of the tool "${toolName}" threw, so the call waits for approval: ${messageOf(error)}`);
    },
    started() {
      if (hasStarted) return;
      hasStarted = true;
      record.emit({ type: "tool-start", step, toolCallId, toolName, call });
    },
  };
}

function toolRunOptions(caller: CallingTool, cancellation: Cancellation): ToolRunOptions {
  const { run, step, toolCallId } = caller;
  const options = {
    toolCallId,
    runId: run.identity.runId,
    step,
    agent: run.agent.name,
    context: run.scope.context,
    signal: cancellation.signal,
    [callerKey]: caller,
  };
  return options;
}

function guardOf(run: Run, step: number): ToolGuard | undefined {
  const { toolInput, toolOutput } = run.agent.guardrails;
  if (toolInput.length + toolOutput.length === 0) return undefined;
  const messageOfTrips = async (guarding: ReturnType<typeof guard>): Promise<string | undefined> => {
    const trips = await guarding;
    return trips.length === 0 ? undefined : trips.map(({ message }) => message).join("\n");
  };
  return {
    input: (call, input) =>
      messageOfTrips(guard(run, "toolInput", { subject: { call, input }, step, toolCallId: call.toolCallId })),
    output: (call, result) =>
      messageOfTrips(guard(run, "toolOutput", { subject: { call, result }, step, toolCallId: call.toolCallId })),
  };
}

interface WaitingPlace {
  readonly at: StepPlace;
  readonly child: ToolWaiting["child"];
  readonly before: WaitingCall | undefined;
}

async function recordWaiting(
  run: Run,
  call: StepToolCall,
  { at, child, before }: WaitingPlace,
): Promise<UnsettledCall> {
  const { toolCallId, toolName } = call;
  // The journal knows of the call already if its tool always asks, or if it waited before.
  const isKnown =
    child !== undefined || before?.why === "approval" || setupOf(run).tools.get(toolName)?.needsApproval === true;
  if (!isKnown) await run.record.wait(at, call);
  at.span.setMetadata({ isWaiting: true });
  at.span.end("cancelled");
  return { waiting: { toolCallId, why: "approval", ...(child !== undefined && { child }) } };
}

// The result of a call that must not run after its run was resumed.
function resultWithoutRun(
  { request, identity }: Run,
  call: StepToolCall,
  before: WaitingCall | undefined,
): ToolResult | ToolWaiting | undefined {
  const { toolName } = call;
  // A call that waits for approval keeps waiting until there is a decision, even if the agent's tools have changed.
  const isOpen = before?.why === "approval" && before.child === undefined;
  if (isOpen && request.decisions.permit(call, identity.runId) === "wait") return new ToolWaiting();
  if (before?.why === "interrupted") {
    const text = `The call to the tool "${toolName}" was interrupted, and it is unknown whether it took effect. Check before you call it again.`;
    return { ...errorResult(call, text), status: "interrupted" };
  }
  if (call.isRedacted !== true || before?.child !== undefined) return undefined;
  const was = before?.why === "again" ? "was interrupted and is not run again" : "was not run";
  return errorResult(
    call,
    `The tool "${toolName}" ${was}: its arguments were redacted when the call was recorded. Call it again if it is still needed.`,
  );
}

function errorResult({ toolCallId, toolName }: StepToolCall, text: string): ToolResult {
  return { toolCallId, toolName, output: text, content: text, isError: true, durationMs: 0 };
}

function endSpan(span: TraceSpan, { inputText }: StepToolCall, { result, message }: SettledCall): void {
  span.setMetadata({ messageId: message.metadata?.id, isError: result.isError });
  if (result.error !== undefined) span.setMetadata({ errorType: errorType(result.error) });
  if (span.keepsContent) span.setContent({ inputText, output: shownOutput(result) });
  span.end(result.isError ? "error" : "ok");
}

// Spans leave the process: without the bytes of files.
function shownOutput({ output, content }: ToolResult): JsonValue {
  return typeof content === "string" ? output : textWithMarkers(content);
}
