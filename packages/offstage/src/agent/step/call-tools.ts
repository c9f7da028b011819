// Runs the tool calls of a step. Each call gets a span, guardrails, journal entries and events. Results are in call order.

import { type Cancellation, errorType } from "../../base/cancellation.ts";
import type { JsonValue } from "../../base/json.ts";
import { warn } from "../../base/warn.ts";
import { messageOf } from "../../errors.ts";
import { withEditNote } from "../../messages/message.ts";
import { textWithMarkers } from "../../models/content-parts.ts";
import { byCallId, type WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import type { Ask, CallQuestions } from "../../tools/ask.ts";
import { jsonSafe } from "../../tools/json-safe.ts";
import { type CallSite, runTool, runTools, type ToolGuard } from "../../tools/run-tool.ts";
import type { ToolRunOptions } from "../../tools/tool.ts";
import { ToolWaiting } from "../../tools/tool-answer.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import { type CallingTool, callerKey, type Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";
import {
  type CallStart,
  decideAgain,
  interruptedResult,
  permissionOf,
  questionsOf,
  recordDecision,
  recordWaiting,
  resultWithoutRun,
} from "./ask-person.ts";
import { type CalledTools, resultMessage, type SettledCall, type UnsettledCall } from "./make-step.ts";
import { guard } from "./rule.ts";

export interface CallToolsOptions extends StepPlace {
  /** Calls of a resumed step that waited or were interrupted. */
  readonly before?: readonly WaitingCall[];
}

/** Runs the calls of a step. Rejects only if the run is aborted, or if a guardrail or the journal fails. */
export function callTools(
  run: Run,
  calls: readonly StepToolCall[],
  { step, span, before }: CallToolsOptions,
): Promise<CalledTools> {
  // Results are numbered in call order, whichever call finishes first.
  const first = run.record.reserve(calls.length);
  const waited = before && byCallId(before);
  return runTools(calls, run.agent.maxParallelTools, (call, index) =>
    callTool(run, call, { step, span, number: first + index, before: waited?.get(call.toolCallId) }),
  );
}

interface CallPlace extends CallStart {
  /** The number of the result among the run's messages. */
  readonly number: number;
}

function callTool(run: Run, call: StepToolCall, place: CallPlace): Promise<SettledCall | UnsettledCall> {
  const { record, scope } = run;
  // Hooks and guardrails get the call before it runs, and must not change it.
  Object.freeze(call);
  // The model may invent any name, and span names leave the process.
  const tool = run.input.setup.tools.get(call.toolName);
  const described = tool?.description === undefined ? undefined : { toolDescription: tool.description };
  const metadata = { toolCallId: call.toolCallId, toolType: "function", ...described };
  const init = { name: tool?.name ?? "unknown_tool", kind: "tool" as const, metadata };
  return record.inStepPart(place, init, async (span) => {
    scope.cancellation.signal.throwIfAborted();
    const here = { ...place, span };
    const at = place.before === undefined ? here : await decideAgain(run, call, here);
    const site = callSite(run, call, at);
    const startedAt = performance.now();
    try {
      const made = (at.before && resultWithoutRun(call, at)) ?? (await runTool(call, site));
      site.hasEnded = true;
      const used = site.edited ?? call;
      const edit = site.edited && { editedInput: site.edited.inputText };
      if (made instanceof ToolWaiting) return { waiting: await recordWaiting(run, call, { at, made }), ...edit };
      const result = used.isEdited ? { ...made, content: withEditNote(made.content) } : made;
      const message = resultMessage(run, used, { ...at, result });
      run.draft.messages?.push(message);
      if (record.log !== undefined) await record.log.settle(at.step, message);
      endSpan(span, used, { result, message });
      emitEnd(run, at, result);
      return { result, message, ...edit };
    } catch (error) {
      // The run ends here. Whoever heard of the start hears of the end.
      const durationMs = performance.now() - startedAt;
      site.hasEnded = true;
      if (site.hasStarted) emitEnd(run, at, { ...interruptedResult(call), durationMs });
      throw error;
    }
  });
}

function emitEnd({ record }: Run, { step }: StepPlace, result: ToolResult): void {
  const { toolCallId, toolName } = result;
  record.emit?.({ type: "tool-end", step, toolCallId, toolName, result });
}

function endSpan(span: TraceSpan, { inputText }: StepToolCall, { result, message }: SettledCall): void {
  span.setMetadata({
    messageId: message.metadata?.id,
    isError: result.isError,
    ...(result.error !== undefined && { errorType: errorType(result.error) }),
  });
  if (span.keepsContent) span.setContent({ inputText, output: shownOutput(result) });
  span.end(result.isError ? "error" : "ok");
}

// Spans leave the process: without the bytes of files.
function shownOutput({ output, content }: ToolResult): JsonValue {
  return typeof content === "string" ? output : textWithMarkers(content);
}

interface RunCallSite extends CallSite {
  /** The call as a person changed it when it was about to run. */
  edited: StepToolCall | undefined;
  /** True once the tool is about to run. */
  hasStarted: boolean;
  /** True once the call has its result or waits: progress that comes later is dropped. */
  hasEnded: boolean;
}

// The run around a call.
function callSite(run: Run, call: StepToolCall, start: CallStart): RunCallSite {
  const { scope, record } = run;
  const { step, span, before } = start;
  const { toolCallId, toolName } = call;
  const caller: CallingTool = { run, step, span, toolCallId, before };
  let questions: CallQuestions | undefined;
  let waiting: ToolWaiting | undefined;
  let tellWaiting: ((waiting: ToolWaiting) => void) | undefined;
  const wait = (made: ToolWaiting): void => {
    waiting = made;
    tellWaiting?.(made);
  };
  const ask: Ask = (question) => {
    questions ??= questionsOf(run, call, { ...start, wait });
    return questions.ask(question);
  };
  const progress = (value: unknown): void => {
    if (site.hasEnded) return;
    record.emit?.({ type: "tool-progress", step, toolCallId, toolName, value: jsonSafe(value, bounds) });
  };
  // Not a getter: V8 keeps the accessors of an object literal, and with them the run, until a full collection.
  const site: RunCallSite = {
    edited: undefined,
    hasStarted: false,
    hasEnded: false,
    tools: run.input.setup.tools,
    cancellation: scope.cancellation,
    guard: guardOf(run, step),
    hasBegun: before?.child !== undefined,
    onWait(listener) {
      tellWaiting = listener;
      if (waiting !== undefined) listener(waiting);
    },
    askedMs: () => questions?.askedMs() ?? 0,
    about: (cancellation) => toolRunOptions(caller, cancellation, { ask, progress }),
    async permit() {
      const permission = await permissionOf(run, call, start);
      if (typeof permission === "object" && "edited" in permission) {
        site.edited = permission.edited;
        await recordDecision(run, start, { toolCallId, editedInput: permission.edited.inputText });
      }
      return permission;
    },
    unasked(error) {
      record.emit?.({ type: "error", error, source: "needsApproval" });
      warn(`"needsApproval" of the tool "${toolName}" threw, so the call waits for approval: ${messageOf(error)}`);
    },
    started(used) {
      site.hasStarted = true;
      // The call of a subagent that is resumed started before.
      if (before?.child === undefined) record.emit?.({ type: "tool-start", step, toolCallId, toolName, call: used });
    },
  };
  return site;
}

/** The most bytes of one progress value. */
const bounds = { maxBytes: 64 * 1024 };

function toolRunOptions(
  caller: CallingTool,
  cancellation: Cancellation,
  { ask, progress }: Pick<ToolRunOptions, "ask" | "progress">,
): ToolRunOptions {
  const { run, step, toolCallId, before } = caller;
  const options = {
    toolCallId,
    runId: run.identity.runId,
    step,
    agent: run.agent.name,
    context: run.scope.context,
    signal: cancellation.signal,
    ask,
    asked: (before?.answers ?? []).map(({ message, state }) => ({ message, ...(state !== undefined && { state }) })),
    progress,
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
