// Reads a model's stream: hands each delta on as it comes, and gives the whole reply at the end.
import { OffstageError } from "../errors.ts";
import type {
  ModelContent,
  ModelFinishReason,
  ModelStream,
  ModelStreamPart,
  ModelUsage,
  ProviderData,
} from "./model.ts";
import { type ModelReply, replyOf } from "./reply.ts";

/** What a listener hears while a reply streams in. */
export interface DeltaListener {
  text(delta: string): void;
  reasoning(delta: string): void;
  toolInput(callId: string, toolName: string, delta: string): void;
  /** The reply is whole. */
  end?(): void;
}

/** The whole reply of a stream. Rejects on an `error` part, on a cut, and when the signal aborts. */
export async function readStream(
  stream: ModelStream,
  listener: DeltaListener,
  signal?: AbortSignal,
): Promise<ModelReply> {
  const assembly = new Assembly(listener);
  if ("getReader" in stream) await readWeb(stream.getReader(), assembly, signal);
  else await readIterable(stream, assembly, signal);
  return assembly.finish();
}

type Reader = ReturnType<Extract<ModelStream, { getReader(): unknown }>["getReader"]>;

// An abort cancels the stream whether its model listens to the signal or not.
async function readWeb(reader: Reader, assembly: Assembly, signal: AbortSignal | undefined): Promise<void> {
  const stop = () => void cancel(reader, signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    while (true) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      assembly.add(value as ModelStreamPart);
    }
  } catch (error) {
    void cancel(reader, error);
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

// Async, because a throw inside a listener of a signal would end the process.
async function cancel(reader: Reader, reason: unknown): Promise<void> {
  try {
    await reader.cancel(reason);
  } catch {
    // What the stream failed with, or the abort, is told; that it could not be let go is not.
  }
}

async function readIterable(
  stream: AsyncIterable<unknown>,
  assembly: Assembly,
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const part of stream) {
    signal?.throwIfAborted();
    assembly.add(part as ModelStreamPart);
  }
}

/** Puts the parts of a stream together, in the order in which they began. */
class Assembly {
  readonly #listener: DeltaListener;
  readonly #content: ModelContent[] = [];
  readonly #open = new Map<string, ModelContent>();
  readonly #toolNames = new Map<string, string>();
  #finishReason: ModelFinishReason | undefined;
  #usage: ModelUsage | undefined;
  #modelId: string | undefined;
  // The block that the last delta belonged to: deltas of one block come in a row.
  #lastId: string | undefined;
  #lastBlock: ModelContent | undefined;

  constructor(listener: DeltaListener) {
    this.#listener = listener;
  }

  add(part: ModelStreamPart): void {
    switch (part.type) {
      case "text-delta":
        this.#grow("text", part);
        if (isSaid(part.delta)) this.#listener.text(part.delta);
        return;
      case "reasoning-delta":
        this.#grow("reasoning", part);
        if (isSaid(part.delta)) this.#listener.reasoning(part.delta);
        return;
      case "tool-input-delta":
        if (isSaid(part.delta))
          this.#listener.toolInput(part.id ?? "", this.#toolNames.get(part.id ?? "") ?? "", part.delta);
        return;
      default:
        this.#addRare(part);
    }
  }

  #addRare(part: ModelStreamPart): void {
    switch (part.type) {
      case "text-start":
        this.#grow("text", part);
        return;
      case "reasoning-start":
        this.#grow("reasoning", part);
        return;
      case "text-end":
        this.#close("text", part);
        return;
      case "reasoning-end":
        this.#close("reasoning", part);
        return;
      case "tool-input-start":
        this.#toolNames.set(part.id ?? "", part.toolName ?? "");
        return;
      case "finish":
        this.#finishReason = part.finishReason;
        this.#usage = part.usage;
        return;
      case "response-metadata":
        this.#modelId = part.modelId;
        return;
      case "error":
        throw part.error instanceof Error ? part.error : streamFailure(part.error);
      default:
        if (!passedOver.has(part.type) && !passedOver.has(`${part.kind}`)) this.#content.push(part as ModelContent);
    }
  }

  // Metadata may come with any part of a block, even with an empty delta: all of it belongs to the block.
  #grow(type: "text" | "reasoning", part: ModelStreamPart): void {
    const block = this.#blockOf(type, part.id ?? "");
    if (isSaid(part.delta)) block.text += part.delta;
    if (part.providerMetadata !== undefined) {
      block.providerMetadata = mergeData(block.providerMetadata, part.providerMetadata);
    }
  }

  // Some providers use one id for all blocks of a kind, one after another.
  #close(type: "text" | "reasoning", part: ModelStreamPart): void {
    this.#grow(type, part);
    this.#open.delete(`${type} ${part.id ?? ""}`);
    this.#lastBlock = undefined;
  }

  #blockOf(type: "text" | "reasoning", id: string): ModelContent {
    if (this.#lastBlock?.type === type && this.#lastId === id) return this.#lastBlock;
    const key = `${type} ${id}`;
    let block = this.#open.get(key);
    if (block === undefined) {
      block = { type, text: "" };
      this.#open.set(key, block);
      this.#content.push(block);
    }
    this.#lastId = id;
    this.#lastBlock = block;
    return block;
  }

  finish(): ModelReply {
    if (this.#finishReason === undefined || this.#finishReason?.unified === "interrupted") throw cutFailure();
    this.#listener.end?.();
    const response = this.#modelId === undefined ? undefined : { response: { modelId: this.#modelId } };
    return replyOf({
      content: this.#content,
      finishReason: this.#finishReason,
      usage: this.#usage as ModelUsage,
      ...response,
    });
  }
}

// Parts, and kinds of `custom` parts, that tell of the stream and are no content of the reply.
const passedOver = new Set(["stream-start", "tool-input-end", "ping", "raw", "anthropic.message_start"]);

// What is no text says nothing.
function isSaid(delta: unknown): delta is string {
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

// The cause makes it worth another try, as any failure of the network is.
function cutFailure(): OffstageError {
  const cause = Object.assign(new Error("The connection was cut."), { isRetryable: true });
  return new OffstageError("model-failed", "The model's stream ended before the reply did: the connection was cut.", {
    cause,
  });
}
