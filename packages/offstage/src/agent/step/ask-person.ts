// Asks a person about a call: announces that it waits, and lets `onApproval` decide at once. Without a decision the call waits.
import { isObject, type JsonValue } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { warn } from "../../base/warn.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import { type Approval, approvalOf } from "../../sessions/ports/run-record.ts";
import type { AskedQuestion, RecordedAnswer } from "../../state/pending-step.ts";
import type { StepToolCall } from "../../state/step.ts";
import { checkAnswer, recordedAnswer } from "../../tools/ask.ts";
import type { Permission } from "../../tools/run-tool.ts";
import { refusalOf } from "../ports/decision-book.ts";
import type { Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";

/** The step in which a person is asked. */
export interface AskPlace extends StepPlace {
  /** True if the person was asked before, when the run last waited. */
  readonly isKnown: boolean;
}

/** The permission to run a call that needs approval: given at once, or "wait". */
export async function askPermission(run: Run, call: StepToolCall, at: AskPlace): Promise<Permission> {
  const decided = await askPerson(run, approvalOf(call, namesOf(run)), at, (decision) =>
    permissionOf(run, call, decision),
  );
  return decided ?? "wait";
}

/** The answer to a question of a call; undefined if the call has to wait for it. */
export function askAnswer(
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

async function permissionOf(run: Run, call: StepToolCall, decision: unknown): Promise<Permission> {
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
