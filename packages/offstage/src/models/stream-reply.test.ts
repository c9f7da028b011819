// How a stream's parts become blocks, and when the stream is cancelled.
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { ModelStreamPart } from "./model.ts";
import { type DeltaListener, readStream } from "./stream-reply.ts";

const deaf: DeltaListener = { text: () => undefined, reasoning: () => undefined, toolInput: () => undefined };
const finish: ModelStreamPart = {
  type: "finish",
  finishReason: { unified: "stop" },
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
};

test("an id that is used again after its end starts a new block", async () => {
  const block = (type: string, delta: string): ModelStreamPart[] => [
    { type: `${type}-start`, id: "0" },
    { type: `${type}-delta`, id: "0", delta },
    { type: `${type}-end`, id: "0" },
  ];
  const parts = [...block("reasoning", "one"), ...block("text", "two"), ...block("reasoning", "three"), finish];
  const reply = await readStream(ReadableStream.from(parts), deaf, new AbortController().signal);
  expect(reply.parts).toEqual([
    { type: "reasoning", text: "one" },
    { type: "text", text: "two" },
    { type: "reasoning", text: "three" },
  ]);
});

test("deltas of concurrent blocks are added to their own block", async () => {
  const parts: ModelStreamPart[] = ["a", "b", "a", "b"].map((id) => ({ type: "text-delta", id, delta: id }));
  const stream = ReadableStream.from([{ type: "reasoning-delta", id: "a", delta: "r" }, ...parts, finish]);
  const reply = await readStream(stream, deaf, new AbortController().signal);
  expect(reply.parts?.map((part) => (part as { text: string }).text)).toEqual(["r", "aa", "bb"]);
});

test("metadata of any part belongs to its block, even that of an empty delta", async () => {
  const parts: ModelStreamPart[] = [
    { type: "reasoning-start", id: "0", providerMetadata: { a: { one: 1 } } },
    { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { a: { signature: "S" } } },
    { type: "reasoning-end", id: "0", providerMetadata: { b: { two: 2 } } },
    finish,
  ];
  const reply = await readStream(ReadableStream.from(parts), deaf, new AbortController().signal);
  expect(reply.parts).toEqual([
    { type: "reasoning", text: "", providerMetadata: { a: { one: 1, signature: "S" }, b: { two: 2 } } },
  ]);
});

test("an abort cancels a stream whose model ignores the signal", async () => {
  const { signal, abort } = aborting();
  let cancelledWith: unknown;
  const stream = new ReadableStream({
    start: (controller) => controller.enqueue({ type: "text-delta", id: "0", delta: "It is" }),
    cancel(reason) {
      cancelledWith = reason;
    },
  });
  const read = readStream(stream, deaf, signal);
  const reason = new Error("enough");
  setTimeout(() => abort(reason), 5);
  await expect(read).rejects.toBe(reason);
  expect(cancelledWith).toBe(reason);
});

test("a stream that was read leaves no listener on the signal", async () => {
  const { signal } = aborting();
  await readStream(ReadableStream.from([finish]), deaf, signal);
  await expect(readStream(ReadableStream.from([{ type: "error", error: "no" }]), deaf, signal)).rejects.toThrow("no");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

function aborting(): { signal: AbortSignal; abort(reason: Error): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}
