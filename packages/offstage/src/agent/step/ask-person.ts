// Calls that need a person, before and after their run is resumed. Announces that a call waits, and lets `onApproval` decide at once.
// Without a decision the call waits.
import { isObject, type JsonValue } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { warn } from "../../base/warn.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import { withEditedCall } from "../../messages/message.ts";
import type { CallChange } from "../../sessions/ports/journal.ts";
import { type Approval, approvalOf } from "../../sessions/ports/run-record.ts";
import type { AskedQuestion, RecordedAnswer, WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import {
  type CallQuestions,
  callQuestions,
  checkAnswer,
  type QuestionsOptions,
  recordedAnswer,
} from "../../tools/ask.ts";
import type { Permission } from "../../tools/run-tool.ts";
import { ToolWaiting } from "../../tools/tool-answer.ts";
import { refusalOf } from "../ports/decision-book.ts";
import type { Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";

/** A call that a run makes, or makes again. */
export interface CallStart extends StepPlace {
  /** Set if the call waited or was interrupted before the run was resumed. */
  readonly before: WaitingCall | undefined;
  /** The decision about a call that waited. */
  readonly permission?: Permission | undefined;
}

/** The permission to run a call that needs approval: decided earlier, or requested here. */
export async function permissionOf(run: Run, call: StepToolCall, start: CallStart): Promise<Permission> {
  const { before, permission } = start;
  if (permission !== undefined) return permission;
  // A call that asked a question had been approved when it began.
  if (before?.why === "question") return "run";
  // A decision applies to the call that waited, not to a new call with the same id.
  const decided = before && run.request.decisions?.permit(call, run.identity.runId);
  return decided === undefined || decided === "wait" ? askPermission(run, call, { ...start, isKnown: false }) : decided;
}

/** The questions of a call. The answers that are recorded come first; `onApproval` may answer further questions at once. */
export function questionsOf(
  run: Run,
  call: StepToolCall,
  start: CallStart & Pick<QuestionsOptions, "wait">,
): CallQuestions {
  return callQuestions({
    wait: start.wait,
    answers: start.before?.answers ?? [],
    recorded: (text) => run.record.log?.questionText(text) ?? text,
    async answer(question, earlier) {
      const answer = await askAnswer(run, call, { ...start, question, isKnown: false });
      const { toolCallId } = call;
      if (answer !== undefined) await recordDecision(run, start, { toolCallId, answers: [...earlier, answer] });
      return answer;
    },
  });
}

/** Lets `onApproval` decide about a call that waited before the run was resumed, and still does. */
export async function decideAgain<Place extends CallStart>(run: Run, call: StepToolCall, place: Place): Promise<Place> {
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
    await recordDecision(run, place, { toolCallId: call.toolCallId, answers: given });
    return { ...place, before: { ...rest, answers: given } };
  }
  return { ...place, permission: await askPermission(run, call, at) };
}

/** Journals what a person decided about a call while the run works. */
export async function recordDecision(
  { draft, record }: Run,
  { step }: StepPlace,
  change: Omit<CallChange, "runId">,
): Promise<void> {
  const [reply, ...rest] = draft.messages ?? [];
  if (reply?.role !== "assistant") return;
  const { toolCallId, editedInput } = change;
  const message = editedInput === undefined ? reply : withEditedCall(reply, toolCallId, editedInput);
  draft.messages = [message, ...rest];
  await record.log?.decide(step, change, message);
}

interface WaitingPlace {
  readonly at: CallStart;
  readonly made: ToolWaiting;
}

/** Records that a call waits, and ends its span. */
export async function recordWaiting(run: Run, call: StepToolCall, { at, made }: WaitingPlace): Promise<WaitingCall> {
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

/**
 * The result of a call that must not run after its run was resumed. A call that waits keeps waiting until there is a decision, even if
 * the agent's tools have changed.
 */
export function resultWithoutRun(
  call: StepToolCall,
  { before, permission }: CallStart,
): ToolResult | ToolWaiting | undefined {
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

/** The result of a call whose effect is unknown. */
export function interruptedResult(call: StepToolCall): ToolResult {
  const text = `The call to the tool "${call.toolName}" was interrupted, and it is unknown whether it took effect. Check before you call it again.`;
  return { ...errorResult(call, text), status: "interrupted" };
}

function errorResult({ toolCallId, toolName }: StepToolCall, text: string): ToolResult {
  return { toolCallId, toolName, output: text, content: text, isError: true, durationMs: 0 };
}

// The step in which a person is asked.
interface AskPlace extends StepPlace {
  /** True if the person was asked before, when the run last waited. */
  readonly isKnown: boolean;
}

// The permission that a person gives at once, or "wait".
async function askPermission(run: Run, call: StepToolCall, at: AskPlace): Promise<Permission> {
  const decided = await askPerson(run, approvalOf(call, namesOf(run)), at, (decision) =>
    decidedPermission(run, call, decision),
  );
  return decided ?? "wait";
}

// The answer to a question of a call; undefined if the call has to wait for it.
function askAnswer(
  run: Run,
  call: StepToolCall,
  at: AskPlace & { readonly question: AskedQuestion },
): Promise<RecordedAnswer | undefined> {
  const { question } = at;
  return askPerson(run, approvalOf({ ...call, question }, namesOf(run)), at, (decision) =>
    answerOf(call, decision, question),
  );
}

function namesOf({ agent, identity }: Run): { readonly agent: string; readonly runId: string } {
  return { agent: agent.name, runId: identity.runId };
}

// Fails closed: a function that throws, or returns something else than a decision, lets the call wait.
async function askPerson<Decided>(
  run: Run,
  approval: Approval,
  at: AskPlace,
  read: (decision: unknown) => Promise<Decided>,
): Promise<Decided | undefined> {
  const { record, request, scope } = run;
  const { toolCallId, toolName } = approval;
  if (!at.isKnown) record.emit?.({ type: "approval-request", step: at.step, toolCallId, toolName, approval });
  const { onApproval } = request;
  if (onApproval === undefined) return undefined;
  const { cancellation, context } = scope;
  try {
    const decision = await cancellation.race(onApproval(approval, { context, signal: cancellation.signal }));
    return decision === undefined ? undefined : await read(decision);
  } catch (error) {
    cancellation.signal.throwIfAborted();
    record.emit?.({ type: "error", error, source: "onApproval" });
    warn(`"onApproval" did not decide about the tool "${toolName}", so the call waits: ${messageOf(error)}`);
    return undefined;
  }
}

async function decidedPermission(run: Run, call: StepToolCall, decision: unknown): Promise<Permission> {
  if (decision === true) return "run";
  if (decision === false) return { refusal: refusalOf(call.toolName) };
  if (isObject(decision) && typeof decision.reason === "string")
    return { refusal: refusalOf(call.toolName, decision.reason) };
  if (isObject(decision) && isObject(decision.input)) return editOf(run, call, decision.input);
  throw notADecision(decision, "true, false, { input }, { reason } or undefined");
}

async function editOf(run: Run, call: StepToolCall, input: object): Promise<Permission> {
  const checked = await run.input.setup.tools.get(call.toolName)?.schema.check(input, run.scope.cancellation);
  if (checked !== undefined && "problems" in checked)
    throw new OffstageError("invalid-argument", `the changed input does not fit:\n${checked.problems.join("\n")}`);
  const inputText = JSON.stringify(input);
  const { toolCallId, toolName } = call;
  return inputText === call.inputText ? "run" : { edited: { toolCallId, toolName, inputText, isEdited: true } };
}

async function answerOf(call: StepToolCall, decision: unknown, question: AskedQuestion): Promise<RecordedAnswer> {
  if (decision === false || (isObject(decision) && decision.declined === true))
    return recordedAnswer(question, { declined: true });
  if (!isObject(decision) || decision.value === undefined)
    throw notADecision(decision, "{ value }, { declined: true } or undefined");
  const value = JSON.parse(JSON.stringify(decision.value)) as JsonValue;
  await checkAnswer(value, question, call.toolCallId);
  return recordedAnswer(question, { value });
}

function notADecision(decision: unknown, expected: string): OffstageError {
  return new OffstageError("invalid-argument", `it must return ${expected}; found ${shownValue(decision)}.`);
}
