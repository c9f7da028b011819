// W3C trace context on the wire: reads and writes the `traceparent` and `tracestate` headers.

/** A `Headers`, Node's `request.headers`, or a plain object. */
export type HeaderSource =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** The caller's side of a trace that crosses processes. */
export interface RemoteParent {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly sampled: boolean;
  /** Vendor data, passed on to the next process. */
  readonly tracestate: string | undefined;
}

const traceparentPattern = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const tracestateEntry = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
const maxTracestateLength = 512;
const maxTracestateEntries = 32;

/** Reads the caller's trace; undefined without a valid `traceparent`. Drops an invalid `tracestate`. Never throws. */
export function parseTraceparent(headers: HeaderSource): RemoteParent | undefined {
  const match = traceparentPattern.exec(readHeader(headers, "traceparent")?.trim() ?? "");
  if (match === null) return undefined;
  const [, version, traceId = "", parentSpanId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, parentSpanId, sampled, tracestate: validTracestate(readHeader(headers, "tracestate")) };
}

// The value is sent on as a header of ours, so it must be exactly what the standard allows.
function validTracestate(value: string | undefined): string | undefined {
  if (value === undefined || value.length > maxTracestateLength) return undefined;
  const entries = value.split(/[ \t]*,[ \t]*/).filter((entry) => entry !== "");
  const isValid = entries.length <= maxTracestateEntries && entries.every((entry) => tracestateEntry.test(entry));
  return isValid && entries.length > 0 ? entries.join(",") : undefined;
}

/** Writes the headers that continue a trace in another process. */
export function formatTraceparent(parent: RemoteParent): Record<string, string> {
  const headers: Record<string, string> = {
    traceparent: `00-${parent.traceId}-${parent.parentSpanId}-${parent.sampled ? "01" : "00"}`,
  };
  if (parent.tracestate !== undefined) headers.tracestate = parent.tracestate;
  return headers;
}

function readHeader(headers: HeaderSource, name: string): string | undefined {
  try {
    const value = typeof headers.get === "function" ? headers.get(name) : readField(headers, name);
    const first = Array.isArray(value) ? value[0] : value;
    return typeof first === "string" ? first : undefined;
  } catch {
    return undefined;
  }
}

function readField(headers: object, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}
