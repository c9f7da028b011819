// One model call, streamed or not, retried while its errors allow. Gives the same reply either way.

import { clockMs } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { Messages } from "../../messages/messages.ts";
import type { ModelCallOptions } from "../../models/model.ts";
import { type ModelReply, replyOf } from "../../models/reply.ts";
import { failureDetails, withRetries } from "../../models/retry.ts";
import { type DeltaListener, readStream } from "../../models/stream-reply.ts";
import type { AgentState } from "../../state/agent-state.ts";
import { startSpan, type TraceSpan } from "../../tracing/trace-span.ts";
import { runInSpan } from "../../tracing/with-span.ts";
import { shownSections } from "../input/shown-input.ts";
import type { Run, Stamp } from "../run/run.ts";
import { replyStamp } from "../run/step-messages.ts";

/** A reply, and what its message will carry. */
export interface StampedReply {
  readonly reply: ModelReply;
  readonly stamped: Stamp;
}

/** The model's reply to the present state. Rejects with `model-failed`, or with the abort's reason. */
export async function callModel(run: Run, state: AgentState, { step, span: stepSpan }: Place): Promise<StampedReply> {
  const { model, name } = run.config;
  const shown = shownSections(run, state, stepSpan);
  const sections = "then" in shown ? await shown : shown;
  const span = run.isTraced
    ? startSpan(stepSpan, { name: model.modelId, kind: "model", metadata: run.config.modelMetadata })
    : stepSpan;
  if (run.isTraced && span.keepsContent) span.setContent({ messages: sections.flatMap(shownTo) });
  run.emit?.({
    type: "model-start",
    runId: run.runId,
    agent: name,
    step,
    provider: model.provider,
    modelId: model.modelId,
  });
  const call: ModelCall = { step, span, retries: 0 };
  try {
    const reply = await (run.isTraced ? replyTraced(run, sections, call) : replyTo(run, sections, call));
    const stamped = replyStamp(run, reply, call);
    if (run.isTraced) finishSpan(span, reply, stamped);
    const modelId = reply.modelId ?? model.modelId;
    run.ledger.add(modelId, reply.usage);
    run.emit?.({
      type: "model-end",
      runId: run.runId,
      agent: name,
      step,
      modelId,
      finishReason: reply.finishReason,
      usage: reply.usage,
    });
    return { reply, stamped };
  } catch (error) {
    span.fail(error, run.cancellation.signal);
    run.cancellation.throwIfAborted();
    throw modelFailure(run, call, error);
  }
}

// What the model is shown, without what is not sent.
function shownTo(section: Messages): JsonObject[] {
  return section.map(({ metadata: _, ...shown }) => shown as unknown as JsonObject);
}

// Apart, so that no closure is made where nothing is recorded.
function replyTraced(run: Run, sections: readonly Messages[], call: ModelCall): Promise<ModelReply> {
  return runInSpan(call.span, () => replyTo(run, sections, call));
}

function replyTo(run: Run, sections: readonly Messages[], call: ModelCall): Promise<ModelReply> {
  const { runId, config, emit, cancellation } = run;
  const { step, span } = call;
  const options: ModelCallOptions = { ...config.call, prompt: run.modelInput.promptOf(sections) };
  options.abortSignal = cancellation.signal;
  return withRetries(() => tryOnce(run, options, call), {
    options: config.options.retry,
    cancellation,
    // Text that was streamed cannot be taken back.
    mayRetry: () => run.partialText === "",
    onRetry({ attempt, delayMs, error }) {
      call.retries = attempt;
      if (run.isTraced) span.setMetadata({ retries: attempt });
      emit?.({ type: "model-retry", runId, agent: config.name, step, attempt, delayMs, error });
    },
  });
}

async function tryOnce(run: Run, options: ModelCallOptions, place: Place): Promise<ModelReply> {
  const { cancellation, config, isStreaming } = run;
  cancellation.throwIfAborted();
  if (isStreaming) return streamOnce(run, options, place);
  return replyOf(await cancellation.race(config.model.doGenerate(options)));
}

async function streamOnce(run: Run, options: ModelCallOptions, place: Place): Promise<ModelReply> {
  const { cancellation, config } = run;
  const { stream } = await cancellation.race(config.model.doStream(options));
  const listener = listenerOf(run, place);
  return cancellation.race(readStream(stream, config.driver.listen?.(listener) ?? listener, cancellation.signal));
}

interface Place {
  readonly step: number;
  readonly span: TraceSpan;
}

interface ModelCall extends Place {
  /** Retries so far; the error of a failed call says how many. */
  retries: number;
}

function listenerOf(run: Run, { step, span }: Place): DeltaListener {
  const { emit, runId } = run;
  const agent = run.config.name;
  const startedAt = clockMs();
  return {
    text(delta) {
      if (run.partialText === "" && run.isTraced) span.setMetadata({ timeToFirstTokenMs: clockMs() - startedAt });
      run.partialText += delta;
      if (!holdsText(run)) emit?.({ type: "text-delta", runId, agent, step, delta });
    },
    reasoning: (delta) => emit?.({ type: "reasoning-delta", runId, agent, step, delta }),
    toolInput: (toolCallId, toolName, delta) =>
      emit?.({ type: "tool-input-delta", runId, agent, step, toolCallId, toolName, delta }),
  };
}

// Where answers are guarded, nobody reads one before it has passed.
function holdsText(run: Run): boolean {
  return run.config.guardrails.output.length > 0;
}

/** Tells the text of a step that was held back, now that it may be read. */
export function releaseText(run: Run, step: number): void {
  const { partialText: delta, runId, config } = run;
  if (delta === "" || !holdsText(run)) return;
  run.emit?.({ type: "text-delta", runId, agent: config.name, step, delta });
}

function finishSpan(span: TraceSpan, reply: ModelReply, { id: messageId }: Stamp): void {
  if (reply.modelId !== undefined) span.setMetadata({ responseModel: reply.modelId });
  span.setMetadata({ messageId, finishReason: reply.finishReason, usage: { ...reply.usage } });
  if (span.keepsContent) span.setContent({ text: reply.text, toolCalls: reply.calls.map((call) => ({ ...call })) });
  span.end();
}

function modelFailure(run: Run, { step, retries }: ModelCall, cause: unknown): OffstageError {
  if (cause instanceof OffstageError && cause.code !== "model-failed") return cause;
  const { provider, modelId } = run.config.model;
  const place = `step ${step} of agent "${run.config.name}"`;
  const details = failureDetails(cause, retries + 1);
  const sentence = `The model "${modelId}" of "${provider}" failed in ${place}${details}: ${messageOf(cause)}`;
  return new OffstageError("model-failed", sentence, { cause });
}
