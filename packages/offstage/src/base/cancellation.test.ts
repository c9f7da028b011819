import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { Cancellation } from "./cancellation.ts";

const never = new Promise<never>(() => undefined);
const reason = new Error("enough");

describe("a cancellation", () => {
  test("follows the caller's signal, with its reason", () => {
    const controller = new AbortController();
    const cancellation = new Cancellation(controller.signal);
    controller.abort(reason);
    expect([cancellation.signal.aborted, cancellation.signal.reason]).toEqual([true, reason]);
  });

  test("of an aborted signal starts aborted", () => {
    const cancellation = new Cancellation(AbortSignal.abort(reason));
    expect(() => cancellation.signal.throwIfAborted()).toThrow(reason);
  });

  test("does not abort the caller's signal", () => {
    const controller = new AbortController();
    new Cancellation(controller.signal).abort(reason);
    expect(controller.signal.aborted).toBe(false);
  });

  test("keeps its first reason", () => {
    const cancellation = new Cancellation();
    cancellation.abort(reason);
    cancellation.abort(new Error("again"));
    expect(cancellation.signal.reason).toBe(reason);
  });

  test("has an aborted signal, whether it was read before or after the abort", () => {
    const [before, after] = [new Cancellation(), new Cancellation()];
    const { signal } = before;
    for (const cancellation of [before, after]) cancellation.abort(reason);
    expect([signal.aborted, after.signal.aborted, after.signal.reason]).toEqual([true, true, reason]);
  });

  test("has one listener on the caller's signal, however many races there are", () => {
    const { signal } = new AbortController();
    const cancellation = new Cancellation(signal);
    for (let i = 0; i < 100; i++) void cancellation.race(never);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
  });

  test("removes its listener from the caller's signal when it is disposed", () => {
    const { signal } = new AbortController();
    {
      using _ = new Cancellation(signal);
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("race", () => {
  test("settles as the work does", async () => {
    const cancellation = new Cancellation();
    expect(await cancellation.race(Promise.resolve(5))).toBe(5);
    await expect(cancellation.race(Promise.reject(reason))).rejects.toBe(reason);
  });

  test("rejects as soon as there is an abort, even if the work ignores it", async () => {
    const cancellation = new Cancellation();
    const racing = cancellation.race(never);
    cancellation.abort(reason);
    await expect(racing).rejects.toBe(reason);
  });

  test("rejects immediately after an abort", async () => {
    const cancellation = new Cancellation();
    cancellation.abort(reason);
    await expect(cancellation.race(never)).rejects.toBe(reason);
  });

  test("leaves no unhandled rejection if the work fails after the abort", async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", listen);
    const cancellation = new Cancellation();
    const work = new Promise((_, reject) => setTimeout(reject, 2, new Error("late")));
    const racing = cancellation.race(work);
    cancellation.abort(reason);
    await expect(racing).rejects.toBe(reason);
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });
});
