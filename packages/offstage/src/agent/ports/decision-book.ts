// The decisions about calls that wait: checked against these calls before anything is written, then asked for by each call. Fails
// closed: a call without a decision does not run.
import { isObject, type JsonValue, parseArguments } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { AskedQuestion, AwaitedCall, RecordedAnswer } from "../../state/pending-step.ts";
import type { StepToolCall } from "../../state/step.ts";
import { checkAnswer, recordedAnswer } from "../../tools/ask.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Decisions } from "./approvals.ts";

/** A call that waits, as far as it is known to the agent that is resumed. */
export interface AwaitedPlace extends AwaitedCall {
  readonly agent: string;
  /** Undefined if only its id is known. */
  readonly call?: StepToolCall | undefined;
  readonly tool?: Tool | undefined;
  /** The question that it waits for; undefined if it waits for approval. */
  readonly question?: AskedQuestion | undefined;
  /** The answers to its earlier questions. */
  readonly answers?: readonly RecordedAnswer[] | undefined;
  /** True if it is a call of a subagent. */
  readonly isBeneath?: boolean | undefined;
}

/** A call that may run now. */
export interface AdmittedCall extends AwaitedCall {
  /** The input as JSON text, if a person changed it. */
  readonly editedInput?: string | undefined;
  /** The answers to all its questions so far, if one was answered now. */
  readonly answers?: readonly RecordedAnswer[] | undefined;
}

interface Decision {
  readonly toolCallId: string;
  readonly runId?: string | undefined;
  readonly kind: "approve" | "reject" | "answer";
  readonly reason?: string | undefined;
  /** The input to run with, which is an edit if it differs from the model's. */
  readonly input?: JsonValue | undefined;
  readonly editedInput?: string | undefined;
  readonly value?: JsonValue | undefined;
  readonly declined?: boolean | undefined;
  readonly answer?: RecordedAnswer | undefined;
  /** An entry of result.approvals, whose input is shown for information. */
  readonly isEntry: boolean;
}

/** The decisions about the calls of a run and its subagents. */
export class DecisionBook {
  #decisions: ById<Decision>;
  #earlier: ById<AwaitedCall> = new Map();

  constructor({ approve = [], reject = [], answers = [] }: Decisions = {}) {
    this.#decisions = byId([
      ...approve.map((call) => parseDecision(call, "approve")),
      ...reject.map((call) => parseDecision(call, "reject")),
      ...answers.map(parseAnswer),
    ]);
  }

  /** Whether a call may run, waits for a decision, or was rejected. */
  permit(call: StepToolCall, runId: string): "run" | "wait" | { readonly refusal: string } {
    const decision = decisionOn(this.#decisions, { toolCallId: call.toolCallId, runId });
    if (decision === undefined) return this.wasApproved({ toolCallId: call.toolCallId, runId }) ? "run" : "wait";
    return decision.kind === "approve" ? "run" : { refusal: refusalOf(call.toolName, decision.reason) };
  }

  /** The input of a call as a person changed it, as JSON text; undefined if it is the model's. */
  editOf(call: AwaitedCall): string | undefined {
    return decisionOn(this.#decisions, call)?.editedInput;
  }

  /** The answer to the question of a call; undefined if there is none. */
  answerTo(call: AwaitedCall): RecordedAnswer | undefined {
    return decisionOn(this.#decisions, call)?.answer;
  }

  /** Adds the calls that were approved when the run was last resumed. */
  recall(approved: readonly AwaitedCall[]): void {
    this.#earlier = byId(approved);
  }

  /** True if the call was approved when the run was last resumed. It may have run since. */
  wasApproved({ toolCallId, runId }: AwaitedCall): boolean {
    return this.#earlier.get(toolCallId)?.some((each) => each.runId === runId) === true;
  }

  /**
   * The calls that may run now. Rejects if a decision is not about exactly one waiting call, if an approved call cannot run, or if
   * an edited input does not fit: a typo must not count as consent.
   */
  async check(awaited: readonly AwaitedPlace[]): Promise<AdmittedCall[]> {
    const waiting = byId(awaited);
    const matched = [...this.#decisions.values()].flat().map((decision) => {
      const [call, ...others] = waiting.get(decision.toolCallId)?.filter((each) => isAbout(decision, each)) ?? [];
      if (call === undefined || others.length > 0) throw this.#mismatch(decision, awaited);
      return { decision, call };
    });
    const decided = new Set<AwaitedPlace>();
    for (const { call } of matched) {
      if (decided.has(call))
        throw invalid(`There are two decisions about tool call "${call.toolCallId}". Pass only one.`);
      decided.add(call);
    }
    const decisionOf = new Map(matched.map(({ call, decision }) => [call, decision]));
    for (const call of awaited) this.#checkTool(call, decisionOf.get(call));
    // Each decision is bound to its run: a call with the same id that waits in another run later is a different call.
    const bound: Decision[] = [];
    for (const { decision, call } of matched) {
      checkKind(decision, call);
      const made = { editedInput: await editedInput(decision, call), answer: await answerOf(decision, call) };
      bound.push({ ...decision, runId: call.runId, ...made });
    }
    const decisions = byId(bound);
    this.#decisions = decisions;
    return awaited.flatMap(({ toolCallId, runId, answers = [] }) => {
      const decision = decisionOn(decisions, { toolCallId, runId });
      if (decision === undefined || decision.kind === "reject") return [];
      const { editedInput, answer } = decision;
      return [{ toolCallId, runId, editedInput, ...(answer && { answers: [...answers, answer] }) }];
    });
  }

  // A call that waits for a tool that is gone would wait in vain, unless it is rejected.
  #checkTool({ toolCallId, agent, call, tool }: AwaitedPlace, decision: Decision | undefined): void {
    if (call === undefined || tool !== undefined || decision?.kind === "reject") return;
    const why = `agent "${agent}" has no tool "${call.toolName}". Resume with an agent that has it, or reject the call.`;
    throw notRunnable(toolCallId, why, decision === undefined ? "waits" : "was approved");
  }

  #mismatch({ toolCallId: id, runId }: Decision, awaited: readonly AwaitedCall[]): OffstageError {
    const sameId = awaited.filter((call) => call.toolCallId === id);
    const [other] = sameId;
    if (runId === undefined && other !== undefined)
      return invalid(
        `${sameId.length} tool calls with the id "${id}" wait for approval. Pass the entry of result.approvals instead of its id.`,
      );
    if (other !== undefined)
      return invalid(
        `Tool call "${id}" of run "${runId}" does not wait for approval; that of run "${other.runId}" does. Pass its entry of result.approvals.`,
      );
    const waiting = awaited.map((each) => `"${each.toolCallId}"`).join(", ") || "none";
    const wasApproved = this.#earlier.has(id);
    const problem = wasApproved ? `Tool call "${id}" was approved before` : `No tool call "${id}" waits for approval`;
    return invalid(`${problem}. Waiting calls: ${waiting}.`);
  }
}

// By the id of the call, so that many decisions cost linear time. Calls of different runs may have the same id.
type ById<Item> = ReadonlyMap<string, readonly Item[]>;

function byId<Item extends { readonly toolCallId: string }>(items: readonly Item[]): ById<Item> {
  return Map.groupBy(items, ({ toolCallId }) => toolCallId);
}

function decisionOn(decisions: ById<Decision>, call: AwaitedCall): Decision | undefined {
  return decisions.get(call.toolCallId)?.find((each) => isAbout(each, call));
}

function isAbout(decision: Pick<Decision, "toolCallId" | "runId">, call: AwaitedCall): boolean {
  return decision.toolCallId === call.toolCallId && (decision.runId === undefined || decision.runId === call.runId);
}

// A question is answered, and a call is approved: one must not be taken for the other. Both may be rejected.
function checkKind({ kind, toolCallId }: Decision, { question, call }: AwaitedPlace): void {
  if (call === undefined || kind === "reject" || (kind === "answer") === (question !== undefined)) return;
  throw question === undefined
    ? invalid(`Tool call "${toolCallId}" waits for approval, not for an answer. Pass it in "approve" or "reject".`)
    : invalid(
        `Tool call "${toolCallId}" asks a question: pass answers: [{ toolCallId, value }] or [{ toolCallId, declined: true }].`,
      );
}

async function answerOf(decision: Decision, { question }: AwaitedPlace): Promise<RecordedAnswer | undefined> {
  const { kind, value, declined, toolCallId } = decision;
  if (kind !== "answer") return undefined;
  if (declined === true || value === undefined) return recordedAnswer(question, { declined: true });
  if (question !== undefined) await checkAnswer(value, question, toolCallId);
  return recordedAnswer(question, { value });
}

// The changed input of an approved call, which must fit its tool. Throws if the call cannot run: an approval must not be used up.
async function editedInput({ kind, input, isEntry }: Decision, place: AwaitedPlace): Promise<string | undefined> {
  const { call, tool, toolCallId } = place;
  if (kind === "reject" || call === undefined || tool === undefined) return undefined;
  // The stored input of a redacted call differs from that of its entry, although it was not edited.
  const isShown = isEntry && call.isRedacted === true;
  const isEdit = input !== undefined && !isShown && !isSameJson(input, parseArguments(call.inputText));
  // A subagent is told of it instead, and goes on.
  if (!isEdit && call.isRedacted && !place.isBeneath)
    throw notRunnable(
      toolCallId,
      "its arguments were redacted in the store. Resume the run by its last state, approve it with { toolCallId, input }, or reject it.",
    );
  if (!isEdit) return undefined;
  const checked = isObject(input) ? await tool.schema.check(input) : { problems: ["it is not an object"] };
  if ("value" in checked) return JSON.stringify(input);
  const list = checked.problems.map((each) => `- ${each}`).join("\n");
  throw invalid(
    `The changed input of tool call "${toolCallId}" does not fit the tool "${tool.name}", so nothing was decided:\n${list}`,
  );
}

// Compares by content: the order of keys does not matter.
function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => isSameJson(each, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  );
}

function parseDecision(call: unknown, kind: "approve" | "reject"): Decision {
  if (typeof call === "string") return { kind, toolCallId: call, isEntry: false };
  const {
    toolCallId,
    runId,
    reason,
    input,
    kind: entryKind,
  } = namedCall(call, "A decision must be a tool call id or an entry of result.approvals");
  if (reason !== undefined && typeof reason !== "string")
    throw invalid(`The "reason" of a decision must be text for the model; found ${shownValue(reason)}.`);
  const isEntry = entryKind !== undefined;
  return { kind, toolCallId, runId, reason, input: plainCopy(input, "changed input", toolCallId), isEntry };
}

function parseAnswer(given: unknown): Decision {
  const { toolCallId, runId, value: answer, declined } = namedCall(given, "An answer must be { toolCallId, value }");
  const value = plainCopy(answer, "answer", toolCallId);
  if ((declined === true) === (value !== undefined) || (declined !== undefined && declined !== true))
    throw invalid(
      `The answer to tool call "${toolCallId}" must be { toolCallId, value } or { toolCallId, declined: true }; found ${shownValue(given)}.`,
    );
  return { kind: "answer", toolCallId, runId, value, declined: declined === true, isEntry: false };
}

function namedCall(given: unknown, what: string): Record<string, unknown> & Pick<Decision, "toolCallId" | "runId"> {
  if (!isObject(given) || typeof given.toolCallId !== "string") throw invalid(`${what}; found ${shownValue(given)}.`);
  return given as Record<string, unknown> & Pick<Decision, "toolCallId" | "runId">;
}

// A copy, because the caller may change the object, and because it is stored as JSON.
function plainCopy(given: unknown, what: string, toolCallId: string): JsonValue | undefined {
  try {
    const text = JSON.stringify(given);
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    throw invalid(`The ${what} of tool call "${toolCallId}" must be JSON; found ${shownValue(given)}.`);
  }
}

/** The text that the model reads for a rejected call. */
export function refusalOf(name: string, reason = ""): string {
  const why = reason === "" ? "" : ` Reason: ${reason}`;
  return `The call to the tool "${name}" was rejected by the user and not run.${why}`;
}

function notRunnable(id: string, why: string, state = "was approved"): OffstageError {
  return new OffstageError("run-not-resumable", `Tool call "${id}" ${state} but cannot run: ${why}`);
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
