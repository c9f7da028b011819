// Restoring: the state of a run that was cut off or waits, from what its journal holds.

import { isObject, type JsonValue, parseArguments, parseJson } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import {
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
  textOf,
  toolCallsOf,
} from "../../messages/message.ts";
import type { OpenStep, RunRecord, StepRecord } from "../../sessions/journal.ts";
import { usedNote, waitingNotes } from "../../sessions/run-notes.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { PendingStep, WaitingCall } from "../../state/pending-step.ts";
import type { Step, StepToolCall, ToolResult } from "../../state/step.ts";
import { addUsage, Ledger, noUsage, type Usage, type UsageByModel } from "../../tokens/usage.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { rawLength } from "../step/make-step.ts";

/** The state after everything that was recorded. Finished tools stay finished; open calls wait to be dealt with. */
export function restoreState(record: RunRecord, history: readonly Message[], config: AgentConfig): AgentState {
  if (record.isIncomplete) throw incomplete(record);
  const steps = record.steps.map((step, index) => restoreStep(step, config, isAnswer(record, index)));
  const begun = AgentState.empty().withMessages([...history, ...record.input]);
  const usage = usageOf(record, config);
  const state = steps.reduce((before, step) => withToolTrace(before.withStep(step, usage), step, config), begun);
  const waiting =
    record.openStep === undefined ? state : state.withPendingStep(pendingOf(record, record.openStep, config));
  return waiting.withUsage(usage);
}

function incomplete({ runId, sessionId }: RunRecord): OffstageError {
  const sentence = `Run "${runId}" cannot be resumed by its id: messages of it were removed from the conversation of session "${sessionId}". Ask again in a new run, or resume it by the state it left.`;
  return new OffstageError("run-not-resumable", sentence);
}

function withToolTrace(state: AgentState, step: Step, config: AgentConfig): AgentState {
  const section = config.options.separateToolTrace ? AgentState.EXECUTION_BUFFER_SECTION : AgentState.DEFAULT_SECTION;
  return state.withSection(section, state.section(section).append(step.messages));
}

// A subagent's record says what it had used by model when it last ended; what it used since is counted when it is taken up again.
function usageOf(record: RunRecord, config: AgentConfig): UsageByModel {
  const open = (record.openStep?.message.metadata?.usage ?? noUsage) as Usage;
  const ledger = new Ledger(undefined);
  ledger.add(
    config.model.modelId,
    record.steps.reduce((sum, step) => addUsage(sum, step.usage), open),
  );
  for (const { runId } of record.children) {
    for (const [modelId, usage] of Object.entries(countedOf(record, runId))) ledger.add(modelId, usage);
  }
  return ledger.usageByModel;
}

function countedOf({ children }: RunRecord, runId: string): UsageByModel {
  const child = children.find((each) => each.runId === runId);
  return child === undefined ? {} : usedNote(child);
}

// Every recorded step of a run without an end is tool trace: an answer is written with the end.
function isAnswer({ status, steps }: RunRecord, index: number): boolean {
  return status === "completed" && index === steps.length - 1;
}

function restoreStep(record: StepRecord, config: AgentConfig, isAnswer = false): Step {
  const [reply, ...rest] = record.messages as readonly [AssistantMessage, ...Message[]];
  return {
    index: record.step,
    messages: record.messages,
    text: textOf(reply),
    toolCalls: callsOf(reply),
    toolResults: rest
      .filter((message) => message.role === "tool")
      .map((message) => resultOf(message, toolCallsOf(reply), record.values)),
    isAnswer,
    finishReason: record.finishReason,
    usage: record.usage,
    modelId: config.model.modelId,
    startedAt: record.startedAt,
    durationMs: record.durationMs,
  };
}

function callsOf(message: AssistantMessage): StepToolCall[] {
  const { redactedCalls = [], inputTexts } = message.metadata ?? {};
  return toolCallsOf(message).map(({ id, function: called }, place) => ({
    toolCallId: id,
    toolName: called.name,
    inputText: rawOf(inputTexts, id) ?? called.arguments,
    ...(Array.isArray(redactedCalls) && redactedCalls.includes(place) && { isRedacted: true }),
  }));
}

// What the model wrote where it could not be stored as arguments; what was kept in their place must not run. The mark keeps a text
// that was cut from making sense.
function rawOf(inputTexts: unknown, id: string): string | undefined {
  if (!isObject(inputTexts) || !Object.hasOwn(inputTexts, id)) return undefined;
  const raw = String(inputTexts[id]);
  return raw.length < rawLength ? raw : `${raw}…`;
}

function resultOf(message: ToolMessage, calls: readonly ToolCall[], values: StepRecord["values"] = {}): ToolResult {
  const { tool_call_id: toolCallId, content, metadata } = message;
  const text = textOf(message);
  const shown = metadata?.isJson === true ? (parseJson(text) ?? text) : text;
  const input = parseArguments(calls.find(({ id }) => id === toolCallId)?.function.arguments ?? "");
  return {
    toolCallId,
    toolName: message.name ?? "",
    ...(isObject(input) && { input: input as JsonValue }),
    output: Object.hasOwn(values, toolCallId) ? (values[toolCallId] ?? null) : shown,
    content,
    isError: metadata?.isError === true,
    durationMs: Number(metadata?.durationMs ?? 0),
  };
}

function pendingOf(record: RunRecord, open: OpenStep, config: AgentConfig): PendingStep {
  const finished: StepRecord = {
    step: open.step,
    messages: [open.message, ...open.results],
    usage: (open.message.metadata?.usage ?? noUsage) as Usage,
    finishReason: "tool-calls",
    startedAt: open.message.metadata?.createdAt ?? record.startedAt,
    durationMs: 0,
  };
  const known = waitingNotes(record);
  const waiting = open.pending.map(({ id, function: called }): WaitingCall => {
    const noted = known.find((each) => each.toolCallId === id);
    // A subagent's run that the note does not know of began after it: the call was approved, and is cut off by now.
    const isOld = noted !== undefined && noted.child === undefined && childOf(record, id) !== undefined;
    const call = noted === undefined || isOld ? cutOff(record, config, { id, name: called.name }) : noted;
    const { child } = call;
    return child === undefined ? call : { ...call, child: { ...child, counted: countedOf(record, child.runId) } };
  });
  return { step: restoreStep(finished, config), waiting };
}

// A subagent goes on with its own run, and a call that had not begun waits on; any other is not run again unless its tool allows it.
function cutOff(record: RunRecord, config: AgentConfig, { id, name }: { id: string; name: string }): WaitingCall {
  const child = childOf(record, id);
  if (child !== undefined) return { toolCallId: id, why: "again", ...child };
  if (record.openStep?.waiting?.includes(id)) return { toolCallId: id, why: "approval" };
  return { toolCallId: id, why: canRunAgain(config, name) ? "again" : "interrupted" };
}

function childOf(record: RunRecord, toolCallId: string): Pick<WaitingCall, "child"> | undefined {
  const child = record.children.find((each) => each.parentToolCallId === toolCallId);
  return child === undefined ? undefined : { child: { runId: child.runId, agent: child.agent } };
}

/** Whether a call that had begun may run again. A subagent without a run of its own had not begun. */
export function canRunAgain(config: AgentConfig, name: string): boolean {
  const tool = config.tools.get(name);
  return tool?.idempotent === true || tool?.isSubagent === true;
}
