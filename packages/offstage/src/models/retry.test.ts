import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { failureDetails, isRetryable, type RetryOptions, retryDelay, sleep } from "./retry.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-01-01T00:00:00Z") });
});
afterEach(() => vi.useRealTimers());

const failing = (fields: object): Error => Object.assign(new Error("no"), fields);
const busy = (headers: unknown = {}): Error => failing({ statusCode: 429, responseHeaders: headers });

/** Plays these outcomes, one per try. Returns the waits in between, the number of tries, and the value or error. */
function tried(outcomes: readonly unknown[], options?: RetryOptions) {
  const waits: number[] = [];
  for (let tries = 1; ; tries++) {
    const outcome = outcomes[tries - 1];
    if (!(outcome instanceof Error)) return { value: outcome, waits, count: tries };
    const delayMs = retryDelay(outcome, tries, options);
    if (delayMs === undefined) return { error: outcome, waits, count: tries };
    waits.push(delayMs);
  }
}

describe("an error is retryable or not", () => {
  test.for([
    ["an error marked retryable", { isRetryable: true }, true],
    ["an error marked not retryable, whatever its status", { isRetryable: false, statusCode: 500 }, false],
    ...[408, 409, 429, 500, 502, 503, 529, 599].map((code) => [`status ${code}`, { statusCode: code }, true] as const),
    ...[400, 401, 403, 404, 422].map((code) => [`status ${code}`, { status: code }, false] as const),
    ["a lost connection", { code: "ECONNRESET" }, true],
    ["a network failure as cause", { cause: { code: "UND_ERR_SOCKET" } }, true],
    ["a cause of a cause", { cause: { cause: { status: 503 } } }, true],
    ["a status_code in the cause", { cause: { status_code: 429 } }, true],
    ["a statusCode in the cause", { cause: { statusCode: 503 } }, true],
    ["a status in the cause that is not retryable", { cause: { status_code: 400 } }, false],
    ["a missing file", { code: "ENOENT" }, false],
    ["a plain Error", {}, false],
  ] as const)("%s", ([, fields, expected]) => {
    expect(isRetryable(failing(fields))).toBe(expected);
  });

  test.for([[undefined], [null], ["429"], [429]])(
    "a thrown value that is not an object is not retryable: %j",
    ([thrown]) => {
      expect(isRetryable(thrown)).toBe(false);
    },
  );

  test("circular causes do not loop forever", () => {
    const [a, b] = [failing({}), failing({})];
    a.cause = b;
    b.cause = a;
    expect(isRetryable(a)).toBe(false);
  });
});

describe("a failed call", () => {
  test("resolves with the first success", async () => {
    expect(tried([busy(), "done"])).toMatchObject({ value: "done", count: 2 });
  });

  test("rejects with the last error after two retries by default", async () => {
    const last = busy();
    expect(tried([busy(), busy(), last])).toMatchObject({ error: last, count: 3 });
  });

  test("does not retry with maxRetries: 0", async () => {
    expect(tried([busy()], { maxRetries: 0 }).count).toBe(1);
  });

  test("does not retry an error that is not retryable", async () => {
    const error = failing({ statusCode: 400 });
    expect(tried([error, "never"])).toMatchObject({ error, count: 1 });
  });

  test("doubles each wait, plus or minus a quarter", async () => {
    const { waits } = tried([busy(), busy(), busy(), busy()], { maxRetries: 3, initialDelayMs: 100 });
    expect(waits).toHaveLength(3);
    for (const [i, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(75 * 2 ** i);
      expect(wait).toBeLessThanOrEqual(125 * 2 ** i);
    }
  });

  test("waits whole milliseconds", async () => {
    const { waits } = tried([busy(), busy(), "done"], { initialDelayMs: 333.3 });
    expect(waits.map(Number.isInteger)).toEqual([true, true]);
    expect(tried([busy({ "retry-after-ms": "30.2" }), "done"]).waits).toEqual([31]);
  });

  test("waits no longer than maxDelayMs, plus or minus a quarter", async () => {
    const { waits } = tried([busy(), "done"], { initialDelayMs: 10_000, maxDelayMs: 100 });
    expect(waits[0]).toBeLessThanOrEqual(125);
  });
});

describe("the delay a server asks for", () => {
  test.for([
    ["retry-after in seconds", { "retry-after": "2" }, 2000],
    ["retry-after with a fraction", { "retry-after": "0.5" }, 500],
    ["retry-after as a date", { "retry-after": "Thu, 01 Jan 2026 00:00:07 GMT" }, 7000],
    ["a date that has passed", { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    ["retry-after-ms", { "retry-after-ms": "30" }, 30],
    ["retry-after-ms before retry-after", { "retry-after-ms": "30", "retry-after": "9" }, 30],
    ["retry-after if retry-after-ms is not a number", { "retry-after-ms": "soon", "retry-after": "9" }, 9000],
    ["in capital letters", { "Retry-After": "2" }, 2000],
    ["in a Headers object", new Headers({ "Retry-After": "2" }), 2000],
  ] as const)("is respected: %s", async ([, headers, expected]) => {
    expect(tried([busy(headers), "done"]).waits).toEqual([expected]);
  });

  test("is respected in a cause", async () => {
    const error = failing({ cause: { status_code: 429, headers: { "retry-after": "2" } } });
    expect(tried([error, "done"]).waits).toEqual([2000]);
  });

  test("prevents the retry if it exceeds maxDelayMs", async () => {
    expect(tried([busy({ "retry-after": "31" }), "never"]).count).toBe(1);
  });

  test.for([[{ "retry-after": "soon" }], [{ "retry-after": 5 }], ["text"], [null]])(
    "is ignored if it cannot be read: %j",
    async ([headers]) => {
      const { waits } = tried([busy(headers), "done"], { initialDelayMs: 100 });
      expect(waits[0]).toBeGreaterThanOrEqual(75);
    },
  );
});

describe("a wait", () => {
  test("ends with the reason of an abort, and leaves no listener behind", async () => {
    const { signal, abort } = abortable();
    const waiting = expect(sleep(1000, { signal })).rejects.toThrow("user left");
    setTimeout(() => abort(new Error("user left")), 10);
    await vi.advanceTimersByTimeAsync(10);
    await waiting;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("takes as long as a timer can if the server asks for longer and there is no limit", async () => {
    const delayMs = retryDelay(busy({ "retry-after": "1e9" }), 1, { maxDelayMs: Infinity });
    const waiting = sleep(delayMs ?? 0, abortable());
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(await Promise.race([waiting, "waiting"])).toBe("waiting");
  });
});

function abortable(): { signal: AbortSignal; abort: (reason: unknown) => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}

test.for([
  [{ statusCode: 429 }, 3, " after 3 tries with HTTP status 429"],
  [{ cause: { status_code: 400 } }, 1, " after 1 try with HTTP status 400"],
  [{ code: "ECONNRESET" }, 2, " after 2 tries"],
  [{}, 1, ""],
] as const)("the details of a failure name its status and its tries: %j, %i", ([fields, tries, details]) => {
  expect(failureDetails(failing(fields), tries)).toBe(details);
});

describe("sleep", () => {
  test("leaves no listener and no timer behind", async () => {
    const { signal } = new AbortController();
    const slept = sleep(50, { signal });
    await vi.runAllTimersAsync();
    await slept;
    expect([getEventListeners(signal, "abort").length, vi.getTimerCount()]).toEqual([0, 0]);
  });

  test("leaves neither behind when aborted", async () => {
    const controller = new AbortController();
    const slept = sleep(50, { signal: controller.signal });
    controller.abort("stop");
    await expect(slept).rejects.toBe("stop");
    expect([getEventListeners(controller.signal, "abort").length, vi.getTimerCount()]).toEqual([0, 0]);
  });

  test("does not start after an abort", async () => {
    await expect(sleep(50, { signal: AbortSignal.abort("gone") })).rejects.toBe("gone");
    expect(vi.getTimerCount()).toBe(0);
  });
});
