// Restores the state of an interrupted or waiting run from its journal.
import { isObject, type JsonValue, parseArguments, parseJson } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import {
  type AssistantMessage,
  type Content,
  type Message,
  resultContentOf,
  type ToolCall,
  type ToolMessage,
  textOf,
  toolCallsOf,
} from "../../messages/message.ts";
import type { OpenStep, RunRecord, StepRecord } from "../../sessions/ports/run-record.ts";
import { usedNote, waitingNotes } from "../../sessions/records/run-notes.ts";
import { AgentState } from "../../state/agent-state.ts";
import { byCallId, type PendingStep, type WaitingCall } from "../../state/pending-step.ts";
import type { Step, StepToolCall, ToolResult } from "../../state/step.ts";
import { Ledger, noUsage, type Usage, type UsageByModel } from "../../tokens/usage.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { StepSetup } from "../config/step-setup.ts";
import { rawLength } from "../step/make-step.ts";

/** An agent, with the setup of the step that is restored. */
export interface AgentSetup {
  readonly agent: AgentConfig;
  readonly setup: StepSetup;
}

/** The state after all recorded steps. Finished calls keep their results; open calls become a pending step. */
export function restoreState(record: RunRecord, history: readonly Message[], at: AgentSetup): AgentState {
  if (record.isIncomplete) throw incompleteRun(record);
  const steps = record.steps.map((step, index) => restoreStep(step, at, isAnswer(record, index)));
  const first = AgentState.empty().withMessages([...history, ...record.input]);
  const usage = usageOf(record, at);
  const state = steps.reduce((before, step) => withToolTrace(before.withStep(step, usage), step, at), first);
  const { openStep } = record;
  const restored = openStep === undefined ? state : state.withPendingStep(pendingOf(record, openStep, at));
  return restored.withUsage(usage);
}

function incompleteRun({ runId, sessionId }: RunRecord): OffstageError {
  const sentence = `Run "${runId}" cannot be resumed by its id: some of its messages were removed from the conversation of session "${sessionId}". Start a new run, or resume it by its last state.`;
  return new OffstageError("run-not-resumable", sentence);
}

function withToolTrace(state: AgentState, step: Step, at: AgentSetup): AgentState {
  const section = at.agent.options.separateToolTrace ? AgentState.EXECUTION_BUFFER_SECTION : AgentState.DEFAULT_SECTION;
  return state.withSection(section, state.section(section).append(step.messages));
}

// The record of a subagent has its usage as of its last end. Later usage is counted when the subagent is resumed.
function usageOf(record: RunRecord, at: AgentSetup): UsageByModel {
  const open = (record.openStep?.message.metadata?.usage ?? noUsage) as Usage;
  const ledger = new Ledger(undefined);
  const { modelId } = at.setup.model;
  for (const { model = modelId, usage } of record.steps) ledger.add(model, usage);
  ledger.add(modelId, open);
  for (const { runId } of record.children) {
    for (const [modelId, usage] of Object.entries(countedOf(record, runId))) ledger.add(modelId, usage);
  }
  return ledger.usageByModel;
}

function countedOf({ children }: RunRecord, runId: string): UsageByModel {
  const child = children.find((each) => each.runId === runId);
  return child === undefined ? {} : usedNote(child);
}

// An answer is written together with the end of its run, so every recorded step of an unfinished run is tool trace.
function isAnswer({ status, steps }: RunRecord, index: number): boolean {
  return status === "completed" && index === steps.length - 1;
}

function restoreStep(record: StepRecord, at: AgentSetup, isAnswer = false): Step {
  const [reply, ...rest] = record.messages as readonly [AssistantMessage, ...Message[]];
  const modelId = record.model ?? at.setup.model.modelId;
  const calls = new Map(toolCallsOf(reply).map((call) => [call.id, call]));
  const cost = record.cost ?? at.agent.pricing.costOf(record.usage, modelId);
  return {
    index: record.step,
    messages: record.messages,
    text: textOf(reply),
    toolCalls: callsOf(reply),
    toolResults: rest
      .filter((message) => message.role === "tool")
      .map((message) => resultOf(message, calls, record.values)),
    isAnswer,
    finishReason: record.finishReason,
    usage: record.usage,
    ...(cost !== undefined && { cost }),
    modelId,
    startedAt: record.startedAt,
    durationMs: record.durationMs,
  };
}

function callsOf(message: AssistantMessage): StepToolCall[] {
  const { redactedCalls = [], editedCalls = [], inputTexts } = message.metadata ?? {};
  return toolCallsOf(message).map(({ id, function: called }, place) => ({
    toolCallId: id,
    toolName: called.name,
    inputText: rawOf(inputTexts, id) ?? called.arguments,
    ...(Array.isArray(editedCalls) && editedCalls.includes(id) && { isEdited: true }),
    ...(Array.isArray(redactedCalls) && redactedCalls.includes(place) && { isRedacted: true }),
  }));
}

// The arguments as the model wrote them, if they could not be stored: the call must not run with the stored ones. The ellipsis keeps
// clipped text from parsing as JSON.
function rawOf(inputTexts: unknown, id: string): string | undefined {
  if (!isObject(inputTexts) || !Object.hasOwn(inputTexts, id)) return undefined;
  const raw = String(inputTexts[id]);
  return raw.length < rawLength ? raw : `${raw}…`;
}

type CallsById = ReadonlyMap<string, ToolCall>;

function resultOf(message: ToolMessage, calls: CallsById, values: StepRecord["values"] = {}): ToolResult {
  const { tool_call_id: toolCallId, content, metadata } = message;
  const returned = resultContentOf(message);
  const text = textOf({ content: returned });
  const value = metadata?.isJson === true ? returnedValue(returned) : undefined;
  const shown = value === undefined ? text : value;
  const input = parseArguments(calls.get(toolCallId)?.function.arguments ?? "");
  return {
    toolCallId,
    toolName: message.name ?? "",
    ...(isObject(input) && { input: input as JsonValue }),
    output: Object.hasOwn(values, toolCallId) ? (values[toolCallId] ?? null) : shown,
    content,
    isError: metadata?.isError === true,
    ...(isResultStatus(metadata?.status) && { status: metadata.status }),
    durationMs: Number(metadata?.durationMs ?? 0),
    ...(typeof metadata?.childRunId === "string" && { childRunId: metadata.childRunId }),
  };
}

function isResultStatus(status: unknown): status is NonNullable<ToolResult["status"]> {
  return status === "rejected" || status === "interrupted";
}

function returnedValue(content: Content): JsonValue | undefined {
  return typeof content === "string" ? parseJson(content) : (content as unknown as JsonValue);
}

function pendingOf(record: RunRecord, open: OpenStep, at: AgentSetup): PendingStep {
  const finished: StepRecord = {
    step: open.step,
    messages: [open.message, ...open.results],
    usage: (open.message.metadata?.usage ?? noUsage) as Usage,
    finishReason: "tool-calls",
    startedAt: open.message.metadata?.createdAt ?? record.startedAt,
    durationMs: 0,
  };
  const notes = byCallId(waitingNotes(record));
  const waits = new Set(open.waiting);
  const waiting = open.pending.map(({ id, function: called }): WaitingCall => {
    const noted = notes.get(id);
    // A subagent's run that is missing in the note started after it: the call was approved, then interrupted.
    const isBegun = noted !== undefined && noted.child === undefined && childOf(record, id) !== undefined;
    // A question that the call no longer waits for was answered after the note: the call ran again, and was interrupted.
    const isAnswered = noted?.why === "question" && !waits.has(id);
    const isStale = isBegun || isAnswered;
    const known =
      noted === undefined || isStale
        ? interruptedCall(record, at, { id, name: called.name, waits: waits.has(id) })
        : noted;
    const call = withQuestion(known, open);
    const { child } = call;
    return child === undefined ? call : { ...call, child: { ...child, counted: countedOf(record, child.runId) } };
  });
  return { step: restoreStep(finished, at), waiting };
}

// A subagent resumes its own run, and a call that had not begun keeps waiting. Any other call runs again only if its tool allows it.
function interruptedCall(
  record: RunRecord,
  at: AgentSetup,
  { id, name, waits }: { id: string; name: string; waits: boolean },
): WaitingCall {
  const child = childOf(record, id);
  if (child !== undefined) return { toolCallId: id, why: "again", ...child };
  if (waits) return { toolCallId: id, why: record.openStep?.questions?.[id] === undefined ? "approval" : "question" };
  return { toolCallId: id, why: canRunAgain(at, name) ? "again" : "interrupted" };
}

// With the question that the call waits for, and the answers so far.
function withQuestion(call: WaitingCall, { questions }: OpenStep): WaitingCall {
  const known = questions?.[call.toolCallId];
  if (known === undefined) return call;
  const { answers, ...question } = known;
  return { ...call, answers, ...(call.why === "question" && { question }) };
}

function childOf(record: RunRecord, toolCallId: string): Pick<WaitingCall, "child"> | undefined {
  const child = record.children.find((each) => each.parentToolCallId === toolCallId);
  return child === undefined ? undefined : { child: { runId: child.runId, agent: child.agent } };
}

/** True if an interrupted call may run again. A call of a subagent that has no run yet had not begun. */
export function canRunAgain(at: AgentSetup, name: string): boolean {
  const tool = at.setup.tools.get(name);
  return tool?.idempotent === true || tool?.isSubagent === true;
}
