// Reads a model's stream: passes each delta to a listener, and returns the whole reply at the end.
import { OffstageError } from "../errors.ts";
import type { ModelContent, ModelFinishReason, ModelStream, ModelStreamPart, ModelUsage } from "./model.ts";
import type { ProviderData } from "./model-settings.ts";
import { type ModelReply, replyOf } from "./reply.ts";

/** Called while a reply streams in, once per delta that is not empty. */
export interface DeltaListener {
  text(delta: string): void;
  reasoning(delta: string): void;
  toolInput(callId: string, toolName: string, delta: string): void;
  /** Called when the reply is complete. */
  end?(): void;
}

/** Reads a stream and returns its whole reply. Rejects on an `error` part, if the stream ends early, and when the signal aborts. */
export async function readStream(
  stream: ModelStream,
  listener: DeltaListener,
  signal: AbortSignal,
): Promise<ModelReply> {
  const assembly = new Assembly(listener);
  if ("getReader" in stream) await readWeb(stream.getReader(), assembly, signal);
  else await readIterable(stream, assembly, signal);
  return assembly.finish();
}

type Reader = ReturnType<Extract<ModelStream, { getReader(): unknown }>["getReader"]>;

// An abort cancels the stream even if its model ignores the signal.
async function readWeb(reader: Reader, assembly: Assembly, signal: AbortSignal): Promise<void> {
  const stop = () => void cancel(reader, signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    while (true) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      assembly.add(value as ModelStreamPart);
    }
  } catch (error) {
    void cancel(reader, error);
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

// Async, because an error that an abort listener throws would end the process.
async function cancel(reader: Reader, reason: unknown): Promise<void> {
  try {
    await reader.cancel(reason);
  } catch {
    // The caller gets the error of the stream, or the abort's reason, instead.
  }
}

async function readIterable(stream: AsyncIterable<unknown>, assembly: Assembly, signal: AbortSignal): Promise<void> {
  for await (const part of stream) {
    signal.throwIfAborted();
    assembly.add(part as ModelStreamPart);
  }
}

type BlockType = "text" | "reasoning";

/** Assembles the content of a reply from the parts of its stream, in the order in which they began. */
class Assembly {
  readonly #listener: DeltaListener;
  readonly #content: ModelContent[] = [];
  /** The blocks that have not ended, by id. */
  readonly #open = { text: new Map<string, ModelContent>(), reasoning: new Map<string, ModelContent>() };
  readonly #toolNames = new Map<string, string>();
  #finishReason: ModelFinishReason | undefined;
  #usage: ModelUsage | undefined;
  #providerMetadata: ProviderData | undefined;
  #response: { id?: string; modelId?: string } = {};

  constructor(listener: DeltaListener) {
    this.#listener = listener;
  }

  add(part: ModelStreamPart): void {
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        this.#addToBlock("text", part);
        return;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#addToBlock("reasoning", part);
        return;
      case "tool-input-start":
        this.#toolNames.set(part.id ?? "", part.toolName ?? "");
        return;
      case "tool-input-delta":
        this.#addToolInput(part);
        return;
      case "finish":
        this.#finishReason = part.finishReason;
        this.#usage = part.usage;
        this.#providerMetadata = part.providerMetadata;
        return;
      case "response-metadata":
        this.#response = { ...this.#response, ...responseOf(part) };
        return;
      case "error":
        throw part.error instanceof Error ? part.error : streamFailure(part.error);
      default:
        if (!ignored.has(part.type) && !ignored.has(`${part.kind}`)) this.#content.push(part as ModelContent);
    }
  }

  // Any part of a block may carry metadata, even an empty delta. It belongs to the whole block.
  #addToBlock(type: BlockType, part: ModelStreamPart): void {
    const { delta, providerMetadata } = part;
    const id = part.id ?? "";
    const block = this.#open[type].get(id) ?? this.#openBlock(type, id);
    if (providerMetadata !== undefined) block.providerMetadata = mergeData(block.providerMetadata, providerMetadata);
    // Some providers use one id for all blocks of a type, one after another.
    if (part.type.endsWith("-end")) this.#open[type].delete(id);
    if (!isText(delta)) return;
    block.text += delta;
    this.#listener[type](delta);
  }

  #openBlock(type: BlockType, id: string): ModelContent {
    const block = { type, text: "" };
    this.#open[type].set(id, block);
    this.#content.push(block);
    return block;
  }

  #addToolInput({ id, delta }: ModelStreamPart): void {
    const callId = id ?? "";
    if (isText(delta)) this.#listener.toolInput(callId, this.#toolNames.get(callId) ?? "", delta);
  }

  finish(): ModelReply {
    if (this.#finishReason === undefined || this.#finishReason?.unified === "interrupted") throw cutFailure();
    this.#listener.end?.();
    return replyOf({
      content: this.#content,
      finishReason: this.#finishReason,
      usage: this.#usage as ModelUsage,
      ...(this.#providerMetadata !== undefined && { providerMetadata: this.#providerMetadata }),
      response: this.#response,
    });
  }
}

// Parts, and kinds of `custom` parts, that describe the stream and are not content of the reply.
const ignored = new Set(["stream-start", "tool-input-end", "ping", "raw", "anthropic.message_start"]);

function responseOf({ id, modelId }: ModelStreamPart): { id?: string; modelId?: string } {
  return { ...(id !== undefined && { id }), ...(modelId !== undefined && { modelId }) };
}

function isText(delta: unknown): delta is string {
  return typeof delta === "string" && delta !== "";
}

function mergeData(a: ProviderData | undefined, b: ProviderData): ProviderData {
  const merged: ProviderData = { ...a };
  for (const [provider, data] of Object.entries(b)) merged[provider] = { ...merged[provider], ...data };
  return merged;
}

function streamFailure(error: unknown): OffstageError {
  const { message } = (error ?? {}) as { message?: unknown };
  const text = typeof message === "string" ? message : typeof error === "string" ? error : JSON.stringify(error);
  return new OffstageError("model-failed", `The model's stream reported an error: ${text}`, { cause: error });
}

// The cause makes it retryable, like any network failure.
function cutFailure(): OffstageError {
  const cause = Object.assign(new Error("The connection was cut."), { isRetryable: true });
  return new OffstageError(
    "model-failed",
    "The model's stream ended before its reply was complete: the connection was cut.",
    {
      cause,
    },
  );
}
