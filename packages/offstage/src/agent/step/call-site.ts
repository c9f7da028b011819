// The run around a call of a tool: options, guardrails, questions, and the permission of a person if the call needs one.
import type { Cancellation } from "../../base/cancellation.ts";
import { warn } from "../../base/warn.ts";
import { messageOf } from "../../errors.ts";
import type { WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall } from "../../state/step.ts";
import { type CallQuestions, callQuestions } from "../../tools/ask.ts";
import { jsonSafe } from "../../tools/json-safe.ts";
import type { CallSite, Permission, ToolGuard } from "../../tools/run-tool.ts";
import type { ToolRunOptions } from "../../tools/tool.ts";
import { guard } from "../run/guard.ts";
import { type CallingTool, callerKey, type Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";
import { askAnswer, askPermission } from "./ask-person.ts";

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
  const questions = questionsOf(run, call, start);
  let hasEnded = false;
  const progress = (value: unknown): void => {
    if (!hasEnded) record.emit({ type: "tool-progress", step, toolCallId, toolName, value: jsonSafe(value, bounds) });
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
    questions,
    about: (cancellation) => toolRunOptions(caller, cancellation, { ask: questions.ask, progress }),
    async permit() {
      const permission = await permissionOf(run, call, start);
      if (typeof permission === "object" && "edited" in permission) {
        site.edited = permission.edited;
        await record.decide(start, { toolCallId, editedInput: permission.edited.inputText });
      }
      return permission;
    },
    unasked(error) {
      record.emit({ type: "error", error, source: "needsApproval" });
      warn(`"needsApproval" of the tool "${toolName}" threw, so the call waits for approval: ${messageOf(error)}`);
    },
    started(used) {
      site.hasStarted = true;
      // The call of a subagent that is resumed started before.
      if (before?.child === undefined) record.emit({ type: "tool-start", step, toolCallId, toolName, call: used });
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
  const decided = before && run.request.decisions.permit(call, run.identity.runId);
  return decided === undefined || decided === "wait" ? askPermission(run, call, { ...start, isKnown: false }) : decided;
}

// The answers that are recorded come first. `onApproval` may answer further questions at once.
function questionsOf(run: Run, call: StepToolCall, start: CallStart): CallQuestions {
  return callQuestions({
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
