// Making a step: the model's reply and what became of its calls. Where calls wait, the step as far as it went.

import { clockMs, isoNow } from "../../base/clock.ts";
import type { Mutable } from "../../base/mutable.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { Message, ToolMessage } from "../../messages/message.ts";
import type { ModelReply } from "../../models/reply.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { PendingStep } from "../../state/pending-step.ts";
import type { Correction, Step, StepToolCall, ToolResult } from "../../state/step.ts";
import { alwaysAsks } from "../../tools/tool.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { checkOutput } from "../config/structured-output.ts";
import type { Reading } from "../ports/driver.ts";
import type { Run } from "../run/run.ts";
import { identifyCalls, noteMessage, replyMessage } from "../run/step-messages.ts";
import { callModel, releaseText } from "./call-model.ts";
import { type CalledTool, callAlone, callTools, isWaiting, type SettledCall } from "./call-tools.ts";

/** The next step of a state, or that it waits. A step that waited is finished first. */
export async function makeStep(run: Run, state: AgentState, span: TraceSpan): Promise<Step | PendingStep> {
  if (state.pendingStep !== undefined) return finishStep(run, state.pendingStep, span);
  const startedMs = clockMs();
  const startedAt = isoNow();
  const index = state.stepCount + 1;
  run.partialText = "";
  const { reply, stamped } = await callModel(run, state, { step: index, span });
  const reading = readReply(run, reply);
  const calls = reading.calls.length === 0 ? noCalls : identifyCalls(run, reading.calls);
  const message = replyMessage(run, { reading, reply, calls, stamped });
  const parts: StepParts = { run, index, message, reading, reply, calls, startedAt, startedMs };
  if (calls.length === 0) {
    const isPlain = reading.correction === undefined && run.config.output === undefined;
    return stepOf(parts, noneSettled, isPlain ? undefined : await correctionOf(run, reading));
  }
  if (run.partialText !== "") releaseText(run, index);
  run.underWay = [message];
  const intending = run.log?.intend(index, message, run.config.mustAsk ? mustWait(run, calls) : undefined);
  if (intending !== undefined) await intending;
  const at = { step: index, span, isWrittenWithStep: calls.length === 1 && isRecordedAtOnce(run) };
  const called =
    calls.length === 1 ? [await callAlone(run, calls[0] as StepToolCall, at)] : await callTools(run, calls, at);
  if (!called.some(isWaiting)) return stepOf(parts, called as SettledCall[]);
  const step = stepOf(parts, called.filter((each) => !isWaiting(each)) as SettledCall[]);
  return { step, waiting: called.filter(isWaiting).map((each) => each.waiting) };
}

// The calls that cannot begin before somebody was asked.
function mustWait({ config: { tools } }: Run, calls: readonly StepToolCall[]): string[] {
  return calls.filter(({ toolName }) => alwaysAsks(tools.get(toolName))).map(({ toolCallId }) => toolCallId);
}

function readReply({ config }: Run, reply: ModelReply): Reading {
  try {
    return config.driver.read(reply);
  } catch (cause) {
    throw driverFailure(config, cause);
  }
}

function driverFailure({ driver, name }: AgentConfig, cause: unknown): OffstageError {
  const sentence = `The driver "${driver.name}" of agent "${name}" threw: ${messageOf(cause)}`;
  return new OffstageError("run-failed", sentence, { cause });
}

// Whether nothing of the user's is waited for between a result and the record of its step: it could fail, or take long.
function isRecordedAtOnce({ config: { options, guardrails }, criteria }: Run): boolean {
  if (options.processors !== undefined || options.stopWhen !== undefined || options.memory !== undefined) return false;
  for (let i = 0; i < criteria.length; i++) if (criteria[i]?.isShared) return false;
  return guardrails.output.length === 0;
}

const noCalls: readonly StepToolCall[] = Object.freeze([]);
const noneSettled: readonly SettledCall[] = [];
const noResults: readonly ToolResult[] = Object.freeze([]);

interface StepParts {
  readonly run: Run;
  readonly index: number;
  readonly message: Message;
  readonly reading: Reading;
  readonly reply: ModelReply;
  readonly calls: readonly StepToolCall[];
  readonly startedAt: string;
  readonly startedMs: number;
}

function stepOf(parts: StepParts, settled: readonly SettledCall[], correction?: Correction): Step {
  const { run, index, message, reading, reply, calls } = parts;
  const messages = stepMessages(message, settled);
  if (correction !== undefined) messages.push(noteMessage(run, correction.message, index));
  const step: Mutable<Step> = {
    index,
    messages,
    text: reading.text,
    toolCalls: calls,
    toolResults: resultsOf(settled),
    isAnswer: calls.length === 0 && correction === undefined,
    finishReason: reply.finishReason,
    usage: reply.usage,
    modelId: reply.modelId ?? run.config.model.modelId,
    startedAt: parts.startedAt,
    durationMs: clockMs() - parts.startedMs,
  };
  if (reply.reasoning !== "") step.reasoning = reply.reasoning;
  if (correction !== undefined) step.correction = correction;
  return step;
}

function stepMessages(reply: Message, settled: readonly SettledCall[]): Message[] {
  const first = settled[0];
  if (first === undefined) return [reply];
  if (settled.length === 1) return [reply, first.message];
  // Neither spread nor pushed to: such a list would keep room for sixteen more.
  return [reply].concat(settled.map((each) => each.message));
}

function resultsOf(settled: readonly SettledCall[]): readonly ToolResult[] {
  const first = settled[0];
  if (first === undefined) return noResults;
  return settled.length === 1 ? [first.result] : settled.map((each) => each.result);
}

async function correctionOf(run: Run, reading: Reading): Promise<Correction | undefined> {
  if (reading.correction !== undefined || run.config.output === undefined) return reading.correction;
  const checked = await run.cancellation.race(checkOutput(run.config.output, reading.text));
  if ("correction" in checked) return checked.correction;
  run.output = checked.value;
  return undefined;
}

// The calls that waited are asked again; what is done stays done.
async function finishStep(run: Run, { step, waiting }: PendingStep, span: TraceSpan): Promise<Step | PendingStep> {
  const byId = new Map(waiting.map((each) => [each.toolCallId, each]));
  const open = step.toolCalls.filter((call) => byId.has(call.toolCallId));
  run.underWay = [...step.messages];
  const called = await callTools(run, open, { step: step.index, span, waiting: byId });
  const finished = withResults(step, called);
  const still = called.filter(isWaiting).map((each) => each.waiting);
  return still.length === 0 ? finished : { step: finished, waiting: still };
}

function withResults(step: Step, called: readonly CalledTool[]): Step {
  const settled = called.filter((each) => !isWaiting(each)) as SettledCall[];
  const order = new Map(step.toolCalls.map((call, index) => [call.toolCallId, index]));
  const placeOf = (id: string) => order.get(id) ?? 0;
  const results = [...step.toolResults, ...settled.map((each) => each.result)];
  const [reply, ...before] = step.messages as readonly [Message, ...ToolMessage[]];
  const messages = [...before, ...settled.map((each) => each.message)];
  return {
    ...step,
    toolResults: results.sort((a, b) => placeOf(a.toolCallId) - placeOf(b.toolCallId)),
    messages: [reply, ...messages.sort((a, b) => placeOf(a.tool_call_id) - placeOf(b.tool_call_id))],
  };
}
