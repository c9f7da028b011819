// One model call, streamed or not, retried while its errors allow. Gives the same reply either way.
import { messageOf, OffstageError } from "../errors.ts";
import type { Messages } from "../messages/messages.ts";
import type { ModelCallOptions } from "../models/model.ts";
import { type ModelReply, replyOf } from "../models/reply.ts";
import { withRetry } from "../models/retry.ts";
import { type DeltaListener, readStream } from "../models/stream-reply.ts";
import type { AgentState } from "../state/agent-state.ts";
import { startSpan, type TraceSpan } from "../tracing/trace-span.ts";
import { runInSpan } from "../tracing/with-span.ts";
import { linkSpan, type Run, type Stamp, stamp } from "./run.ts";
import { shownSections } from "./shown-input.ts";

/** A reply, and what its message will carry. */
export interface StampedReply {
  readonly reply: ModelReply;
  readonly stamped: Stamp;
}

/** The model's reply to the present state. Rejects with `model-failed`, or with the abort's reason. */
export async function callModel(run: Run, state: AgentState, stepSpan: TraceSpan): Promise<StampedReply> {
  const { model, name } = run.config;
  const step = state.stepCount + 1;
  const shown = shownSections(run, state, stepSpan);
  const sections = shown instanceof Promise ? await shown : shown;
  const span = startSpan(stepSpan, { name: model.modelId, kind: "model", metadata: run.config.modelMetadata });
  run.emit?.({
    type: "model-start",
    runId: run.runId,
    agent: name,
    step,
    provider: model.provider,
    modelId: model.modelId,
  });
  try {
    const reply = await runInSpan(span, () => attempts(run, sections, { step, span }));
    const stamped = stamp(run, step);
    linkSpan(stamped, span);
    finishSpan(span, reply);
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
    throw modelFailure(run, step, error);
  }
}

function attempts(run: Run, sections: readonly Messages[], { step, span }: Streaming): Promise<ModelReply> {
  const { config, cancellation } = run;
  const prompt = run.modelInput.promptOf(sections);
  const options: ModelCallOptions = { ...config.call, prompt };
  if (cancellation.isAbortable) options.abortSignal = cancellation.signal;
  const once = () => (run.isStreaming ? streamOnce(run, options, { step, span }) : generateOnce(run, options));
  return withRetry(once, config.options.retry ?? {}, {
    cancellation,
    mayRetry: () => run.partialText === "",
    onRetry({ attempt, delayMs, error }) {
      if (span.recording) span.setMetadata({ retries: attempt });
      run.emit?.({ type: "model-retry", runId: run.runId, agent: config.name, step, attempt, delayMs, error });
    },
  });
}

function generateOnce({ cancellation, config }: Run, options: ModelCallOptions): Promise<ModelReply> {
  cancellation.throwIfAborted();
  return cancellation.race(config.model.doGenerate(options)).then(replyOf);
}

async function streamOnce(run: Run, options: ModelCallOptions, { step, span }: Streaming): Promise<ModelReply> {
  const { cancellation, config } = run;
  cancellation.throwIfAborted();
  const { stream } = await cancellation.race(config.model.doStream(options));
  const listener = listenerOf(run, { step, span });
  return cancellation.race(readStream(stream, config.driver.listen?.(listener) ?? listener, cancellation.signal));
}

interface Streaming {
  readonly step: number;
  readonly span: TraceSpan;
}

function listenerOf(run: Run, { step, span }: Streaming): DeltaListener {
  const { emit, runId } = run;
  const agent = run.config.name;
  const startedAt = performance.now();
  return {
    text(delta) {
      if (run.partialText === "" && span.recording)
        span.setMetadata({ timeToFirstTokenMs: performance.now() - startedAt });
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

function finishSpan(span: TraceSpan, reply: ModelReply): void {
  if (!span.recording) return;
  span.setMetadata({
    ...(reply.modelId === undefined ? undefined : { responseModel: reply.modelId }),
    finishReason: reply.finishReason,
    usage: { ...reply.usage },
  });
  if (span.keepsContent) span.setContent({ text: reply.text, toolCalls: reply.calls.map((call) => ({ ...call })) });
  span.end();
}

function modelFailure(run: Run, step: number, cause: unknown): OffstageError {
  if (cause instanceof OffstageError && cause.code !== "model-failed") return cause;
  const { provider, modelId } = run.config.model;
  const sentence = `The model "${modelId}" of "${provider}" failed in step ${step} of agent "${run.config.name}": ${messageOf(cause)}`;
  return new OffstageError("model-failed", sentence, { cause });
}
