// Runs the tool calls of a step. Each call gets a span, guardrails, journal entries and events. Results are in call order.

import { type Cancellation, errorType } from "../../base/cancellation.ts";
import type { JsonValue } from "../../base/json.ts";
import { warn } from "../../base/warn.ts";
import { messageOf } from "../../errors.ts";
import { withEditNote } from "../../messages/message.ts";
import { textWithMarkers } from "../../models/content-parts.ts";
import { byCallId, type WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import { type Ask, type CallQuestions, callQuestions, type QuestionsOptions } from "../../tools/ask.ts";
import { jsonSafe } from "../../tools/json-safe.ts";
import { type CallSite, type Permission, runTool, runTools, type ToolGuard } from "../../tools/run-tool.ts";
import type { ToolRunOptions } from "../../tools/tool.ts";
import { ToolWaiting } from "../../tools/tool-answer.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import { type CallingTool, callerKey, type Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";
import { askAnswer, askPermission } from "./ask-person.ts";
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
      const made = resultWithoutRun(call, at) ?? (await runTool(call, site));
      site.ended();
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
      site.ended();
      if (site.hasStarted) emitEnd(run, at, { ...interruptedResult(call), durationMs });
      throw error;
    }
  });
}

function emitEnd({ record }: Run, { step }: StepPlace, result: ToolResult): void {
  const { toolCallId, toolName } = result;
  record.emit?.({ type: "tool-end", step, toolCallId, toolName, result });
}

// Lets `onApproval` decide about a call that waited before the run was resumed, and still does.
async function decideAgain(run: Run, call: StepToolCall, place: CallPlace): Promise<CallPlace> {
  const { before } = place;
  const at = { ...place, isKnown: true };
  const waited = before?.question !== undefined || (before?.why === "approval" && before.child === undefined);
  if (!waited) return place;
  const permission = run.request.decisions?.permit(call, run.identity.runId) ?? "wait";
  if (permission !== "wait") return { ...place, permission };
  if (before.question !== undefined) {
    const { question, answers = [], ...rest } = before;
    const answer = await askAnswer(run, call, { ...at, question });
    if (answer === undefined) return place;
    const given = [...answers, answer];
    await run.record.decide(place, { toolCallId: call.toolCallId, answers: given });
    return { ...place, before: { ...rest, answers: given } };
  }
  return { ...place, permission: await askPermission(run, call, at) };
}

interface WaitingPlace {
  readonly at: CallStart;
  readonly made: ToolWaiting;
}

async function recordWaiting(run: Run, call: StepToolCall, { at, made }: WaitingPlace): Promise<WaitingCall> {
  const { toolCallId } = call;
  const { child, question, answers } = made;
  if (!isKnownToWait(run, call, { at, made }))
    await run.record.log?.wait(at.step, toolCallId, question && { ...question, answers });
  at.span.setMetadata({ isWaiting: true });
  at.span.end("cancelled");
  if (question !== undefined) return { toolCallId, why: "question", question, answers };
  return { toolCallId, why: "approval", ...(child !== undefined && { child }) };
}

// The journal knows of the call already if its tool always asks, or if it waited for the same thing before.
function isKnownToWait(run: Run, { toolName }: StepToolCall, { at, made }: WaitingPlace): boolean {
  if (made.child !== undefined) return true;
  if (made.question !== undefined) return at.before?.question === made.question;
  return at.before?.why === "approval" || run.input.setup.tools.get(toolName)?.needsApproval === true;
}

// The result of a call that must not run after its run was resumed. A call that waits keeps waiting until there is a decision, even
// if the agent's tools have changed.
function resultWithoutRun(call: StepToolCall, { before, permission }: CallStart): ToolResult | ToolWaiting | undefined {
  const { toolName } = call;
  if (before?.why === "question" && typeof permission === "object" && "refusal" in permission)
    return { ...errorResult(call, permission.refusal), status: "rejected" };
  if (permission === "wait" || before?.question !== undefined)
    return new ToolWaiting({ question: before?.question, answers: before?.answers });
  if (before?.why === "interrupted") return interruptedResult(call);
  if (call.isRedacted !== true || before?.child !== undefined) return undefined;
  const was = before?.why === "again" ? "was interrupted and is not run again" : "was not run";
  return errorResult(
    call,
    `The tool "${toolName}" ${was}: its arguments were redacted when the call was recorded. Call it again if it is still needed.`,
  );
}

function interruptedResult(call: StepToolCall): ToolResult {
  const text = `The call to the tool "${call.toolName}" was interrupted, and it is unknown whether it took effect. Check before you call it again.`;
  return { ...errorResult(call, text), status: "interrupted" };
}

function errorResult({ toolCallId, toolName }: StepToolCall, text: string): ToolResult {
  return { toolCallId, toolName, output: text, content: text, isError: true, durationMs: 0 };
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

/** A call that a run makes, or makes again. */
export interface CallStart extends StepPlace {
  /** Set if the call waited or was interrupted before the run was resumed. */
  readonly before: WaitingCall | undefined;
  /** The decision about a call that waited. */
  readonly permission?: Permission | undefined;
}

export interface RunCallSite extends CallSite {
  /** The call as a person changed it when it was about to run. */
  edited: StepToolCall | undefined;
  /** True once the tool is about to run. */
  hasStarted: boolean;
  /** Called when the call has its result or waits: progress that comes later is dropped. */
  ended(): void;
}

/** The run around a call. */
export function callSite(run: Run, call: StepToolCall, start: CallStart): RunCallSite {
  const { scope, record } = run;
  const { step, span, before } = start;
  const { toolCallId, toolName } = call;
  const caller: CallingTool = { run, step, span, toolCallId, before };
  const { promise: waiting, resolve: wait } = Promise.withResolvers<ToolWaiting>();
  let questions: CallQuestions | undefined;
  const ask: Ask = (question) => {
    questions ??= questionsOf(run, call, { ...start, wait });
    return questions.ask(question);
  };
  let hasEnded = false;
  const progress = (value: unknown): void => {
    if (!hasEnded) record.emit?.({ type: "tool-progress", step, toolCallId, toolName, value: jsonSafe(value, bounds) });
  };
  // Not a getter: V8 keeps the accessors of an object literal, and with them the run, until a full collection.
  const site: RunCallSite = {
    edited: undefined,
    hasStarted: false,
    ended() {
      hasEnded = true;
    },
    tools: run.input.setup.tools,
    cancellation: scope.cancellation,
    guard: guardOf(run, step),
    hasBegun: before?.child !== undefined,
    waiting,
    askedMs: () => questions?.askedMs() ?? 0,
    about: (cancellation) => toolRunOptions(caller, cancellation, { ask, progress }),
    async permit() {
      const permission = await permissionOf(run, call, start);
      if (typeof permission === "object" && "edited" in permission) {
        site.edited = permission.edited;
        await record.decide(start, { toolCallId, editedInput: permission.edited.inputText });
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

async function permissionOf(run: Run, call: StepToolCall, start: CallStart): Promise<Permission> {
  const { before, permission } = start;
  if (permission !== undefined) return permission;
  // A call that asked a question had been approved when it began.
  if (before?.why === "question") return "run";
  // A decision applies to the call that waited, not to a new call with the same id.
  const decided = before && run.request.decisions?.permit(call, run.identity.runId);
  return decided === undefined || decided === "wait" ? askPermission(run, call, { ...start, isKnown: false }) : decided;
}

// The answers that are recorded come first. `onApproval` may answer further questions at once.
function questionsOf(run: Run, call: StepToolCall, start: CallStart & Pick<QuestionsOptions, "wait">): CallQuestions {
  return callQuestions({
    wait: start.wait,
    answers: start.before?.answers ?? [],
    recorded: (text) => run.record.log?.questionText(text) ?? text,
    async answer(question, earlier) {
      const answer = await askAnswer(run, call, { ...start, question, isKnown: false });
      const { toolCallId } = call;
      if (answer !== undefined) await run.record.decide(start, { toolCallId, answers: [...earlier, answer] });
      return answer;
    },
  });
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
