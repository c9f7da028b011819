import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Cancellation } from "../base/cancellation.ts";
import { isRetryable, type RetryEvents, type RetryOptions, sleep, tryAgain } from "./retry.ts";

// As call-model.ts does it.
function withRetry<T>(attempt: () => Promise<T>, options: RetryOptions, events: RetryEvents): Promise<T> {
  return attempt().catch((error) => tryAgain(attempt, error, { options, events }));
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-01-01T00:00:00Z") });
});
afterEach(() => vi.useRealTimers());

const failing = (fields: object): Error => Object.assign(new Error("no"), fields);
const busy = (headers: unknown = {}): Error => failing({ statusCode: 429, responseHeaders: headers });

/** Tries with these outcomes one after another; tells the waits between them and how it ended. */
async function tried(outcomes: readonly unknown[], options: RetryOptions = {}, events: RetryEvents = {}) {
  const waits: number[] = [];
  let count = 0;
  const attempt = async () => {
    const outcome = outcomes[count++];
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  const onRetry: RetryEvents["onRetry"] = ({ delayMs }) => waits.push(delayMs);
  const ended = withRetry(attempt, options, { onRetry, ...events }).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  return { ...(await ended), waits, count };
}

describe("which errors are worth another try", () => {
  test.for([
    ["one that says so", { isRetryable: true }, true],
    ["one that says no, whatever its status", { isRetryable: false, statusCode: 500 }, false],
    ...[408, 409, 429, 500, 502, 503, 529, 599].map((code) => [`status ${code}`, { statusCode: code }, true] as const),
    ...[400, 401, 403, 404, 422].map((code) => [`status ${code}`, { status: code }, false] as const),
    ["a lost connection", { code: "ECONNRESET" }, true],
    ["a network failure below", { cause: { code: "UND_ERR_SOCKET" } }, true],
    ["one two levels below", { cause: { cause: { status: 503 } } }, true],
    ["a file that is not there", { code: "ENOENT" }, false],
    ["a plain Error", {}, false],
  ] as const)("%s", ([, fields, expected]) => {
    expect(isRetryable(failing(fields))).toBe(expected);
  });

  test.for([undefined, null, "429", 429])("what is no object is not: %j", (thrown) => {
    expect(isRetryable(thrown)).toBe(false);
  });

  test("causes that go round in a circle come to an end", () => {
    const [a, b] = [failing({}), failing({})];
    a.cause = b;
    b.cause = a;
    expect(isRetryable(a)).toBe(false);
  });
});

describe("trying again", () => {
  test("gives the first success", async () => {
    expect(await tried([busy(), "done"])).toMatchObject({ value: "done", count: 2 });
  });

  test("stops after two retries unless told otherwise, with the last error", async () => {
    const last = busy();
    expect(await tried([busy(), busy(), last])).toMatchObject({ error: last, count: 3 });
  });

  test("stops at once where none is allowed", async () => {
    expect((await tried([busy()], { maxRetries: 0 })).count).toBe(1);
  });

  test("waits as long as a timer can where a server asks for longer and no limit is set", async () => {
    const ended = withRetry(() => Promise.reject(busy({ "retry-after": "1e9" })), { maxDelayMs: Infinity }, {}).catch(
      () => "given up",
    );
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(await Promise.race([ended, "waiting"])).toBe("waiting");
  });

  test("stops at once for an error that is not worth it", async () => {
    const error = failing({ statusCode: 400 });
    expect(await tried([error, "never"])).toMatchObject({ error, count: 1 });
  });

  test("stops where something was already handed on", async () => {
    expect((await tried([busy(), "never"], {}, { mayRetry: () => false })).count).toBe(1);
  });

  test("waits twice as long each time, give or take a quarter", async () => {
    const { waits } = await tried([busy(), busy(), busy(), busy()], { maxRetries: 3, initialDelayMs: 100 });
    expect(waits).toHaveLength(3);
    for (const [i, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(75 * 2 ** i);
      expect(wait).toBeLessThanOrEqual(125 * 2 ** i);
    }
  });

  test("waits no longer than the cap, give or take a quarter", async () => {
    const { waits } = await tried([busy(), "done"], { initialDelayMs: 10_000, maxDelayMs: 100 });
    expect(waits[0]).toBeLessThanOrEqual(125);
  });
});

describe("a server that says when", () => {
  test.for([
    ["retry-after in seconds", { "retry-after": "2" }, 2000],
    ["retry-after with a fraction", { "retry-after": "0.5" }, 500],
    ["retry-after as a date", { "retry-after": "Thu, 01 Jan 2026 00:00:07 GMT" }, 7000],
    ["a date that has passed", { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    ["retry-after-ms", { "retry-after-ms": "30" }, 30],
    ["retry-after-ms before retry-after", { "retry-after-ms": "30", "retry-after": "9" }, 30],
    ["retry-after where retry-after-ms is senseless", { "retry-after-ms": "soon", "retry-after": "9" }, 9000],
    ["in capitals", { "Retry-After": "2" }, 2000],
    ["in a Headers object", new Headers({ "Retry-After": "2" }), 2000],
  ] as const)("is obeyed: %s", async ([, headers, expected]) => {
    expect((await tried([busy(headers), "done"])).waits).toEqual([expected]);
  });

  test("is not retried where it asks for more than the cap", async () => {
    expect((await tried([busy({ "retry-after": "31" }), "never"])).count).toBe(1);
  });

  test.for([{ "retry-after": "soon" }, { "retry-after": 5 }, "text", null])(
    "is not obeyed where it makes no sense: %j",
    async (headers) => {
      const { waits } = await tried([busy(headers), "done"], { initialDelayMs: 100 });
      expect(waits[0]).toBeGreaterThanOrEqual(75);
    },
  );
});

describe("an abort", () => {
  test("ends the wait with its reason, and no further try is made", async () => {
    const cancellation = new Cancellation();
    let count = 0;
    const ended = withRetry(
      async () => {
        count++;
        throw busy();
      },
      {},
      { cancellation },
    );
    const reason = new Error("user left");
    setTimeout(() => cancellation.abort(reason), 10);
    const expectation = expect(ended).rejects.toBe(reason);
    await vi.runAllTimersAsync();
    await expectation;
    expect(count).toBe(1);
    expect(getEventListeners(cancellation.signal, "abort")).toEqual([]);
  });

  test("during the try takes the place of its error", async () => {
    const cancellation = new Cancellation();
    const attempt = async () => {
      cancellation.abort("gone");
      throw busy();
    };
    await expect(withRetry(attempt, {}, { cancellation })).rejects.toBe("gone");
  });
});

describe("sleep", () => {
  test("leaves no listener behind, and no timer", async () => {
    const { signal } = new AbortController();
    const slept = sleep(50, { signal });
    await vi.runAllTimersAsync();
    await slept;
    expect([getEventListeners(signal, "abort").length, vi.getTimerCount()]).toEqual([0, 0]);
  });

  test("that is aborted leaves neither, too", async () => {
    const controller = new AbortController();
    const slept = sleep(50, { signal: controller.signal });
    controller.abort("stop");
    await expect(slept).rejects.toBe("stop");
    expect([getEventListeners(controller.signal, "abort").length, vi.getTimerCount()]).toEqual([0, 0]);
  });

  test("does not begin after an abort", async () => {
    await expect(sleep(50, { signal: AbortSignal.abort("gone") })).rejects.toBe("gone");
    expect(vi.getTimerCount()).toBe(0);
  });
});
