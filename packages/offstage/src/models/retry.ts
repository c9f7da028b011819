// Retry: which model errors are worth another try, how long to wait before it, and how a failure describes its tries.
import { checkOptions, numberFrom } from "../base/options.ts";

export interface RetryOptions {
  /** Tries after the first one. Default 2. */
  readonly maxRetries?: number | undefined;
  /** The first wait; each further one doubles. Default 500. */
  readonly initialDelayMs?: number | undefined;
  /** The longest wait; if a server asks for a longer one, the call fails instead. Default 30,000. */
  readonly maxDelayMs?: number | undefined;
}

const rules = { maxRetries: numberFrom(0), initialDelayMs: numberFrom(0), maxDelayMs: numberFrom(0) };

/** Throws `invalid-argument` if a retry option is unknown or does not fit. */
export function checkRetryOptions(options: RetryOptions): void {
  checkOptions(options, rules, "retry");
}

/** The wait after a failed try, in whole milliseconds; undefined if there is no further try. `tries` counts those so far. */
export function retryDelay(error: unknown, tries: number, options: RetryOptions = {}): number | undefined {
  const { maxRetries = 2, initialDelayMs = 500, maxDelayMs = 30_000 } = options;
  if (tries > maxRetries || !isRetryable(error)) return undefined;
  const requested = retryAfterMs(error);
  if (requested !== undefined) return requested <= maxDelayMs ? Math.ceil(requested) : undefined;
  const backoff = Math.min(initialDelayMs * 2 ** (tries - 1), maxDelayMs);
  return Math.round(backoff * (0.75 + Math.random() * 0.5));
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

/**
 * True if an error, or one of its causes, says that another try may succeed: `isRetryable`, an HTTP status of 408, 409, 429
 * or 5xx, or a network failure. The outermost error that says anything decides.
 */
export function isRetryable(error: unknown): boolean {
  for (const fields of causesOf(error)) {
    if (typeof fields.isRetryable === "boolean") return fields.isRetryable;
    const status = statusIn(fields);
    if (status !== undefined) return retryableStatus.has(status) || status >= 500;
    if (networkCodes.has(fields.code as string)) return true;
  }
  return false;
}

/** The details of a failed call for its error message: ` after 3 tries with HTTP status 429`, or nothing. */
export function failureDetails(error: unknown, tries: number): string {
  const status = causesOf(error)
    .map(statusIn)
    .find((found) => found !== undefined);
  if (status === undefined && tries === 1) return "";
  const counted = tries === 1 ? "1 try" : `${tries} tries`;
  return status === undefined ? ` after ${counted}` : ` after ${counted} with HTTP status ${status}`;
}

type Fields = Readonly<Record<string, unknown>>;

// Causes may be circular.
const maxCauses = 10;

/** The error and its causes, outermost first. Leaves out values that are not objects. */
function causesOf(error: unknown): Fields[] {
  const causes: Fields[] = [];
  let cause = error;
  while (typeof cause === "object" && cause !== null && causes.length <= maxCauses) {
    causes.push(cause as Fields);
    cause = (cause as Fields).cause;
  }
  return causes;
}

// Errors inside a stream name their status `code`.
function statusIn({ statusCode, status, status_code, code }: Fields): number | undefined {
  return [statusCode, status, status_code, code].find(isHttpStatus);
}

function isHttpStatus(value: unknown): value is number {
  return typeof value === "number" && value >= 400 && value < 600;
}

function retryAfterMs(error: unknown): number | undefined {
  const requested = causesOf(error).map(({ responseHeaders, headers }) => requestedDelay(responseHeaders ?? headers));
  return requested.find((delayMs) => delayMs !== undefined);
}

// `retry-after-ms`, then `retry-after` in seconds or as a date.
function requestedDelay(headers: unknown): number | undefined {
  const read = headerReader(headers);
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

/** The longest delay of a timer, in milliseconds. A timer with a longer one fires at once. */
export const longestTimer: number = 2 ** 31 - 1;

/** Waits. Rejects with the signal's reason as soon as it aborts; leaves no listener behind. */
export function sleep(delayMs: number, { signal }: { signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const finish = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(delayMs, longestTimer));
    signal.addEventListener("abort", stop, { once: true });
  });
}
