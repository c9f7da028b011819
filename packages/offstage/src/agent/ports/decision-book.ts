// The decisions about calls that wait: checked against these calls before anything is written, then asked for by each call. Fails
// closed: a call without a decision does not run.
import { isObject, type JsonValue, parseArguments } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { AwaitedCall } from "../../state/pending-step.ts";
import type { StepToolCall } from "../../state/step.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Decisions } from "./approvals.ts";

/** A call that waits, as far as it is known to the agent that is resumed. */
export interface AwaitedPlace extends AwaitedCall {
  readonly agent: string;
  /** Undefined if only its id is known. */
  readonly call?: StepToolCall | undefined;
  readonly tool?: Tool | undefined;
  /** True if it is a call of a subagent. */
  readonly isBeneath?: boolean | undefined;
}

/** A call that may run now. */
export interface AdmittedCall extends AwaitedCall {
  /** The input as JSON text, if a person changed it. */
  readonly editedInput?: string | undefined;
}

interface Decision {
  readonly toolCallId: string;
  readonly runId?: string | undefined;
  readonly isApproved: boolean;
  readonly reason?: string | undefined;
  /** The input to run with, which is an edit if it differs from the model's. */
  readonly input?: JsonValue | undefined;
  readonly editedInput?: string | undefined;
  /** An entry of result.approvals, whose input is shown for information. */
  readonly isEntry: boolean;
}

/** The decisions about the calls of a run and its subagents. */
export class DecisionBook {
  #decisions: ById<Decision>;
  #earlier: ById<AwaitedCall> = new Map();

  constructor({ approve = [], reject = [] }: Decisions = {}) {
    this.#decisions = byId([
      ...approve.map((call) => ({ ...parseDecision(call), isApproved: true })),
      ...reject.map((call) => ({ ...parseDecision(call), isApproved: false })),
    ]);
  }

  /** Whether a call may run, waits for a decision, or was rejected. */
  permit(call: StepToolCall, runId: string): "run" | "wait" | { readonly refusal: string } {
    const decision = decisionOn(this.#decisions, { toolCallId: call.toolCallId, runId });
    if (decision === undefined) return this.wasApproved({ toolCallId: call.toolCallId, runId }) ? "run" : "wait";
    return decision.isApproved ? "run" : { refusal: refusalOf(call.toolName, decision.reason) };
  }

  /** The input of a call as a person changed it, as JSON text; undefined if it is the model's. */
  editOf(call: AwaitedCall): string | undefined {
    return decisionOn(this.#decisions, call)?.editedInput;
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
    for (const { decision, call } of matched)
      bound.push({ ...decision, runId: call.runId, editedInput: await editedInput(decision, call) });
    const decisions = byId(bound);
    this.#decisions = decisions;
    return awaited.flatMap(({ toolCallId, runId }) => {
      const decision = decisionOn(decisions, { toolCallId, runId });
      return decision?.isApproved !== true ? [] : [{ toolCallId, runId, editedInput: decision.editedInput }];
    });
  }

  // A call that waits for a tool that is gone would wait in vain, unless it is rejected.
  #checkTool({ toolCallId, agent, call, tool }: AwaitedPlace, decision: Decision | undefined): void {
    if (call === undefined || tool !== undefined || decision?.isApproved === false) return;
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

// The changed input of an approved call, which must fit its tool. Throws if the call cannot run: an approval must not be used up.
async function editedInput({ isApproved, input, isEntry }: Decision, place: AwaitedPlace): Promise<string | undefined> {
  const { call, tool, toolCallId } = place;
  if (!isApproved || call === undefined || tool === undefined) return undefined;
  // The stored input of a redacted call differs from that of its entry, though nobody changed it.
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

function parseDecision(call: unknown): Omit<Decision, "isApproved"> {
  if (typeof call === "string") return { toolCallId: call, isEntry: false };
  if (!isObject(call) || typeof call.toolCallId !== "string")
    throw invalid(`A decision must be a tool call id or an entry of result.approvals; found ${shownValue(call)}.`);
  const { toolCallId, runId, reason, input } = call;
  if (reason !== undefined && typeof reason !== "string")
    throw invalid(`The "reason" of a decision must be text for the model; found ${shownValue(reason)}.`);
  const isEntry = call.kind !== undefined;
  return { toolCallId, runId: runId as string | undefined, reason, input: plainCopy(input, toolCallId), isEntry };
}

// A copy, because the caller may change the object, and because the edit is stored as JSON.
function plainCopy(input: unknown, toolCallId: string): JsonValue | undefined {
  try {
    const text = JSON.stringify(input);
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    throw invalid(`The changed input of tool call "${toolCallId}" must be JSON; found ${shownValue(input)}.`);
  }
}

function refusalOf(name: string, reason = ""): string {
  const why = reason === "" ? "" : ` Reason: ${reason}`;
  return `The call to the tool "${name}" was rejected by the user and not run.${why}`;
}

function notRunnable(id: string, why: string, state = "was approved"): OffstageError {
  return new OffstageError("run-not-resumable", `Tool call "${id}" ${state} but cannot run: ${why}`);
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
