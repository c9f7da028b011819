// Makes a step of a reply and of the results of its calls.

import { messageOf, OffstageError } from "../../errors.ts";
import type { AssistantMessage, Message, ToolMessage } from "../../messages/message.ts";
import type { ModelReply } from "../../models/reply.ts";
import type { PendingStep } from "../../state/pending-step.ts";
import type { Correction, Step, StepToolCall } from "../../state/step.ts";
import { alwaysAsks } from "../../tools/tool.ts";
import { checkOutput } from "../config/structured-output.ts";
import type { Reading } from "../ports/driver.ts";
import type { Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";
import { releaseText, type StampedReply } from "./call-model.ts";
import type { CalledTools } from "./call-tools.ts";
import { identifyCalls, noteMessage, replyMessage } from "./step-messages.ts";

/** A reply as the driver and the output schema read it. */
export interface ReadReply {
  readonly reply: ModelReply;
  readonly message: AssistantMessage;
  readonly text: string;
  readonly calls: readonly StepToolCall[];
  /** Set if the model must say it again. */
  readonly correction: Correction | undefined;
}

/** Reads a reply: its calls get ids, and an answer is checked against the output schema. */
export async function readReply(run: Run, stamped: StampedReply, { step }: StepPlace): Promise<ReadReply> {
  const { reply, metadata } = stamped;
  const { text, calls: requested, correction } = readWithDriver(run, reply);
  const calls = identifyCalls(run, requested);
  const message = replyMessage(run, { text, reply, calls, metadata });
  if (calls.length > 0) {
    releaseText(run, step);
    return { reply, message, text, calls, correction: undefined };
  }
  // If the run ends before the step does, this is its text, streamed or not.
  run.draft.text = text;
  return { reply, message, text, calls, correction: correction ?? (await checkAnswer(run, text)) };
}

function readWithDriver({ agent }: Run, reply: ModelReply): Reading {
  try {
    return agent.driver.read(reply);
  } catch (cause) {
    const sentence = `The driver "${agent.driver.name}" of agent "${agent.name}" threw: ${messageOf(cause)}`;
    throw new OffstageError("run-failed", sentence, { cause });
  }
}

async function checkAnswer(run: Run, text: string): Promise<Correction | undefined> {
  const { output } = run.agent;
  if (output === undefined) return undefined;
  const checked = await run.scope.cancellation.race(checkOutput(output, text));
  if ("correction" in checked) return checked.correction;
  run.draft.output = checked.value;
  return undefined;
}

/** The ids of calls that cannot begin without approval. */
export function callsToApprove({ agent }: Run, calls: readonly StepToolCall[]): string[] {
  return calls.filter(({ toolName }) => alwaysAsks(agent.tools.get(toolName))).map(({ toolCallId }) => toolCallId);
}

export interface StepTiming {
  /** ISO 8601. */
  readonly startedAt: string;
  /** By the monotonic clock. */
  readonly startedMs: number;
}

/** The step of a reply and of the results its calls have so far; pending if calls still wait. */
export function stepOf(
  run: Run,
  read: ReadReply,
  { step: index, called, startedAt, startedMs }: StepTiming & { readonly step: number; readonly called: CalledTools },
): Step | PendingStep {
  const { reply, message, text, calls, correction } = read;
  const { settled, waiting } = called;
  const note = correction === undefined ? [] : [noteMessage(run, correction.message, index)];
  const step: Step = {
    index,
    messages: [message, ...settled.map((each) => each.message), ...note],
    text,
    ...(reply.reasoning !== "" && { reasoning: reply.reasoning }),
    toolCalls: calls,
    toolResults: settled.map((each) => each.result),
    isAnswer: calls.length === 0 && correction === undefined,
    ...(correction !== undefined && { correction }),
    finishReason: reply.finishReason,
    usage: reply.usage,
    modelId: reply.modelId ?? run.agent.model.modelId,
    startedAt,
    durationMs: performance.now() - startedMs,
  };
  return waiting.length === 0 ? step : { step, waiting };
}

/** A pending step with further results; still pending if calls still wait. */
export function withResults({ step }: PendingStep, { settled, waiting }: CalledTools): Step | PendingStep {
  const order = new Map(step.toolCalls.map(({ toolCallId }, index) => [toolCallId, index]));
  const placeOf = (id: string) => order.get(id) ?? 0;
  const results = [...step.toolResults, ...settled.map((each) => each.result)];
  const [reply, ...before] = step.messages as readonly [Message, ...ToolMessage[]];
  const messages = [...before, ...settled.map((each) => each.message)];
  const merged: Step = {
    ...step,
    toolResults: results.sort((a, b) => placeOf(a.toolCallId) - placeOf(b.toolCallId)),
    messages: [reply, ...messages.sort((a, b) => placeOf(a.tool_call_id) - placeOf(b.tool_call_id))],
  };
  return waiting.length === 0 ? merged : { step: merged, waiting };
}
