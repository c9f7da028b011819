// Retry: when a model call is worth another try, and how long to wait for it. Never after an abort.
import type { Cancellation } from "../base/cancellation.ts";

export interface RetryOptions {
  /** Tries after the first one. Default 2. */
  readonly maxRetries?: number;
  /** The first wait; each further one doubles. Default 500. */
  readonly initialDelayMs?: number;
  /** The longest wait; a server that asks for more is not retried. Default 30,000. */
  readonly maxDelayMs?: number;
}

/** A try that failed, and how long the next one is waited for. */
export interface Retry {
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: unknown;
}

export interface RetryEvents {
  readonly cancellation?: Cancellation | undefined;
  /** Told before each wait. */
  readonly onRetry?: (retry: Retry) => void;
  /** Asked before each retry: false where something was already handed on and cannot be taken back. */
  readonly mayRetry?: () => boolean;
}

export interface TryAgainOptions {
  /** How often, and how long to wait. */
  readonly options?: RetryOptions | undefined;
  /** Whom to ask, and to tell. */
  readonly events: RetryEvents;
}

/** After a first try that failed: the result of `attempt`, tried again while its error says that it can be. */
export async function tryAgain<T>(
  attempt: () => Promise<T>,
  failure: unknown,
  { options = {}, events }: TryAgainOptions,
): Promise<T> {
  const { maxRetries = 2 } = options;
  let error = failure;
  for (let tries = 1; ; tries++) {
    events.cancellation?.throwIfAborted();
    const delayMs = tries <= maxRetries && isRetryable(error) ? delayFor(error, tries, options) : undefined;
    if (delayMs === undefined || events.mayRetry?.() === false) throw error;
    events.onRetry?.({ attempt: tries, delayMs, error });
    await sleep(delayMs, { signal: events.cancellation?.signal });
    try {
      return await attempt();
    } catch (next) {
      error = next;
    }
  }
}

const retryableStatus = new Set([408, 409, 429]);
const networkCodes = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "EAI_AGAIN",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

// How far down an error's causes are read: they may go round in a circle.
const maxCauses = 10;

/** True where an error says that another try may succeed: `isRetryable`, 408, 409, 429, 5xx, or the network. */
export function isRetryable(error: unknown, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > maxCauses) return false;
  const { isRetryable: says, statusCode, status, code, cause } = error as Record<string, unknown>;
  if (typeof says === "boolean") return says;
  const http = [statusCode, status, code].find(isHttpStatus);
  if (http !== undefined) return retryableStatus.has(http) || http >= 500;
  if (typeof code === "string" && networkCodes.has(code)) return true;
  return isRetryable(cause, depth + 1);
}

// An error inside a stream has its status as a number called `code`.
function isHttpStatus(value: unknown): value is number {
  return typeof value === "number" && value >= 400 && value < 600;
}

function delayFor(error: unknown, tries: number, options: RetryOptions): number | undefined {
  const { initialDelayMs = 500, maxDelayMs = 30_000 } = options;
  const asked = retryAfterMs(error);
  if (asked !== undefined) return asked <= maxDelayMs ? asked : undefined;
  const backoff = Math.min(initialDelayMs * 2 ** (tries - 1), maxDelayMs);
  return backoff * (0.75 + Math.random() * 0.5);
}

// `retry-after-ms`, then `retry-after` in seconds or as a date.
function retryAfterMs(error: unknown): number | undefined {
  const { responseHeaders, headers } = error as { responseHeaders?: unknown; headers?: unknown };
  const read = headerReader(responseHeaders ?? headers);
  const ms = Number.parseFloat(read("retry-after-ms") ?? "");
  if (ms >= 0) return ms;
  const after = read("retry-after");
  if (after === undefined) return undefined;
  const seconds = Number(after);
  const wait = Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function headerReader(headers: unknown): (name: string) => string | undefined {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  if (typeof headers !== "object" || headers === null) return () => undefined;
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as unknown]));
  return (name) => {
    const value = byName.get(name);
    return typeof value === "string" ? value : undefined;
  };
}

export interface SleepOptions {
  /** Ends the wait when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** The longest a timer can be set for, in milliseconds; one that is set for longer fires at once. */
export const longestTimer: number = 2 ** 31 - 1;

/** Waits; rejects with the signal's reason as soon as it aborts, and leaves no listener behind. */
export function sleep(delayMs: number, { signal }: SleepOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      },
      Math.min(delayMs, longestTimer),
    );
    signal?.addEventListener("abort", stop, { once: true });
  });
}
