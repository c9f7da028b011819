// Calls the model, streamed or not, and retries while its errors are retryable. The reply is the same either way.

import type { JsonObject } from "../../base/json.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { Messages } from "../../messages/messages.ts";
import { Downloads } from "../../models/downloads.ts";
import type { ModelCallOptions, PromptMessage } from "../../models/model.ts";
import { promptMessage, promptMessages } from "../../models/prompt.ts";
import { type ModelReply, replyOf } from "../../models/reply.ts";
import { failureDetails, retryDelay, sleep } from "../../models/retry.ts";
import { type DeltaListener, readStream } from "../../models/stream-reply.ts";
import type { InputRecord } from "../../sessions/ports/run-record.ts";
import type { Usage } from "../../tokens/usage.ts";
import type { Stamp } from "../run/recorder.ts";
import type { Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";

/** A reply, the metadata of its message, and what it cost. */
export interface StampedReply {
  readonly reply: ModelReply;
  readonly metadata: Stamp;
  /** The model that answered. */
  readonly modelId: string;
  /** In US dollars; undefined if the model has no price. */
  readonly cost: number | undefined;
}

/**
 * Calls the model with these sections. If it fails and there are others to fall back on, calls the next. Rejects with `model-failed`, or
 * with the abort's reason.
 */
export async function callModel(run: Run, sections: readonly Messages[], at: StepPlace): Promise<StampedReply> {
  const { record, scope, agent, request } = run;
  const { step } = at;
  for (;;) {
    const { model, spanMetadata } = run.input.setup;
    const { provider, modelId } = model;
    // If a function chose the model, it was unknown when the run began.
    if (agent.setup === undefined) scope.span.setMetadata({ provider, model: modelId });
    const attempts = { retries: 0 };
    record.emit?.({ type: "model-start", step, provider, modelId });
    const metadata = request.isStreaming ? { ...spanMetadata, stream: true } : spanMetadata;
    try {
      return await record.inStepPart(at, { name: modelId, kind: "model", metadata }, (span) =>
        replyTo(run, sections, { step, span, attempts }),
      );
    } catch (error) {
      scope.cancellation.signal.throwIfAborted();
      const failure = modelFailure(run, error, { step, tries: attempts.retries + 1 });
      if (!fallBack(run, at, failure)) throw failure;
    }
  }
}

// Sets the step up with the next model. False if there is none, or if text of this one was streamed, which cannot be taken back.
function fallBack(run: Run, { step }: StepPlace, error: unknown): boolean {
  const { input, record, draft } = run;
  const { next, model, source } = run.input.setup;
  if (next === undefined || !canRestart(run)) return false;
  input.failedModels.add(source);
  input.setup = next;
  input.modelInput.useModel(next);
  const { modelId, provider } = model;
  draft.retries.push({ attempt: draft.retries.length + 1, delayMs: 0, error: messageOf(error) });
  record.emit?.({ type: "model-fallback", step, provider, modelId, nextModelId: next.model.modelId, error });
  return true;
}

function canRestart(run: Run): boolean {
  return run.draft.text === "" || holdsBack(run);
}

function withoutMetadata(section: Messages): JsonObject[] {
  return section.map(({ metadata: _, ...sent }) => sent as unknown as JsonObject);
}

interface ModelCall extends StepPlace {
  /** The number of retries so far, for the error message. */
  readonly attempts: { retries: number };
}

async function replyTo(run: Run, sections: readonly Messages[], call: ModelCall): Promise<StampedReply> {
  const { scope, request, record, input, draft } = run;
  const { cancellation } = scope;
  const { span } = call;
  if (span.keepsContent) span.setContent({ messages: sections.flatMap(withoutMetadata) });
  const { modelInput, setup } = input;
  const given = modelInput.promptOf(sections);
  const tools = modelInput.markTools(setup.call.tools);
  const prompt = modelInput.hasUrls ? await modelInput.resolveUrls(downloadsOf(run)) : given;
  if (record.log !== undefined)
    draft.input = { step: call.step, startedAt: new Date().toISOString(), input: inputOf(run, prompt) };
  const options: ModelCallOptions = {
    ...setup.call,
    ...(tools !== undefined && { tools }),
    prompt,
    abortSignal: cancellation.signal,
  };
  for (;;) {
    cancellation.signal.throwIfAborted();
    draft.text = "";
    draft.reasoning = "";
    try {
      const reply = request.isStreaming
        ? await streamReply(run, options, call)
        : replyOf(await cancellation.race(setup.model.doGenerate(options)));
      return recordReply(run, reply, call);
    } catch (error) {
      await waitToRetry(run, error, call);
    }
  }
}

// Rejects with the error if there is no further try. Text that was streamed cannot be taken back.
async function waitToRetry(run: Run, error: unknown, { step, span, attempts }: ModelCall): Promise<void> {
  const { record, draft, scope, agent } = run;
  scope.cancellation.signal.throwIfAborted();
  const attempt = attempts.retries + 1;
  const delayMs = retryDelay(error, attempt, agent.options.retry);
  if (delayMs === undefined || !canRestart(run)) throw error;
  attempts.retries = attempt;
  draft.retries.push({ attempt, delayMs, error: messageOf(error) });
  span.setMetadata({ retries: attempt });
  record.emit?.({ type: "model-retry", step, attempt, delayMs, error });
  await sleep(delayMs, scope.cancellation);
}

function downloadsOf({ input, agent, scope }: Run): Downloads {
  input.downloads ??= new Downloads(() => input.setup.model, agent.options.download, scope.cancellation);
  return input.downloads;
}

// The input of this call, for the record. `messages` is left out if the input is the previous one plus the messages of the previous
// step. Messages that joined the run are listed, so that one that leaves the conversation later is known to be missing.
function inputOf(run: Run, prompt: readonly PromptMessage[]): InputRecord {
  const { agent, input, state } = run;
  const { recorded: setup } = run.input.setup;
  const { messages, added } = input.modelInput;
  // Another protocol shows messages in another form.
  if (agent.driver !== undefined && agent.driver.toPrompt !== promptMessage)
    return { setup, messages: promptMessages(prompt) };
  const last = state.currentStep?.messages;
  const isOrdinary =
    added !== undefined &&
    added.length === last?.length &&
    added.every((message, index) => message === last[index] && message.metadata?.isJoined !== true);
  return { setup, ...(!isOrdinary && { messages: [...messages] }) };
}

async function streamReply(run: Run, options: ModelCallOptions, at: StepPlace): Promise<ModelReply> {
  const { agent, scope } = run;
  const { cancellation } = scope;
  const { stream } = await cancellation.race(run.input.setup.model.doStream(options));
  const listener = listenerOf(run, at);
  return cancellation.race(readStream(stream, agent.driver?.listen?.(listener) ?? listener, cancellation.signal));
}

function listenerOf(run: Run, { step, span }: StepPlace): DeltaListener {
  const { record, draft } = run;
  const startedAt = performance.now();
  return {
    text(delta) {
      if (draft.text === "") span.setMetadata({ timeToFirstTokenMs: performance.now() - startedAt });
      draft.text += delta;
      if (!holdsBack(run)) record.emit?.({ type: "text-delta", step, delta });
    },
    reasoning(delta) {
      if (holdsBack(run)) draft.reasoning += delta;
      else record.emit?.({ type: "reasoning-delta", step, delta });
    },
    toolInput: (toolCallId, toolName, delta) =>
      record.emit?.({ type: "tool-input-delta", step, toolCallId, toolName, delta }),
  };
}

// Text is not streamed until the output guardrails have passed it. Neither is reasoning: it may repeat the text.
function holdsBack({ agent }: Run): boolean {
  return agent.guardrails.output.length > 0;
}

/** Emits the reasoning and the text of a step if they were held back for the guardrails. */
export function releaseText(run: Run, step: number): void {
  if (!holdsBack(run)) return;
  const { text, reasoning } = run.draft;
  run.draft.reasoning = "";
  if (reasoning !== "") run.record.emit?.({ type: "reasoning-delta", step, delta: reasoning });
  if (text !== "") run.record.emit?.({ type: "text-delta", step, delta: text });
}

function recordReply(run: Run, reply: ModelReply, { step, span }: StepPlace): StampedReply {
  const { record, limits, agent } = run;
  const { usage, finishReason } = reply;
  const modelId = reply.modelId ?? run.input.setup.model.modelId;
  limits.ledger.add(modelId, usage);
  const cost = agent.pricing.costOf(usage, modelId);
  const metadata = record.stamp({ step, span });
  metadata.usage = usage as Usage & JsonObject;
  record.emit?.({ type: "model-end", step, modelId, finishReason, usage });
  span.setMetadata({
    ...(reply.modelId !== undefined && { responseModel: reply.modelId }),
    ...(reply.responseId !== undefined && { responseId: reply.responseId }),
    messageId: metadata.id,
    finishReason,
    usage: { ...usage },
  });
  if (span.keepsContent) span.setContent({ text: reply.text, toolCalls: reply.calls.map((call) => ({ ...call })) });
  return { reply, metadata, modelId, cost };
}

function modelFailure(run: Run, cause: unknown, { step, tries }: { step: number; tries: number }): OffstageError {
  if (cause instanceof OffstageError && cause.code !== "model-failed") return cause;
  const { provider, modelId } = run.input.setup.model;
  const place = `step ${step} of agent "${run.agent.name}"`;
  const details = failureDetails(cause, tries);
  const sentence = `The model "${modelId}" of "${provider}" failed in ${place}${details}: ${messageOf(cause)}`;
  return new OffstageError("model-failed", sentence, { cause });
}
