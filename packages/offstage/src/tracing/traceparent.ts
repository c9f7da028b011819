// W3C trace context on the wire: the `traceparent` and `tracestate` headers, read and written. No traces here.

/** Headers as they come: a `Headers`, Node's `request.headers`, or a plain object. */
export type HeaderSource =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** The caller's side of a trace that crosses processes. */
export interface RemoteParent {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly sampled: boolean;
  /** Vendors' data, passed on as it came. */
  readonly tracestate: string | undefined;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const maxTracestate = 512;

/** The caller's trace, or undefined where there is no `traceparent` or it is not valid. Never throws. */
export function parseTraceparent(headers: HeaderSource): RemoteParent | undefined {
  const match = pattern.exec(readHeader(headers, "traceparent")?.trim() ?? "");
  if (match === null) return undefined;
  const [, version, traceId = "", parentSpanId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentSpanId)) return undefined;
  const tracestate = readHeader(headers, "tracestate");
  return {
    traceId,
    parentSpanId,
    sampled: (Number.parseInt(flags, 16) & 1) === 1,
    tracestate: tracestate !== undefined && tracestate.length <= maxTracestate ? tracestate : undefined,
  };
}

/** The headers that carry a trace to another process. */
export function formatTraceparent(parent: RemoteParent): Record<string, string> {
  const headers: Record<string, string> = {
    traceparent: `00-${parent.traceId}-${parent.parentSpanId}-${parent.sampled ? "01" : "00"}`,
  };
  if (parent.tracestate !== undefined) headers.tracestate = parent.tracestate;
  return headers;
}

function readHeader(headers: HeaderSource, name: string): string | undefined {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined;
  const record = headers as { readonly [name: string]: string | readonly string[] | undefined };
  const key = Object.keys(record).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : record[key];
  return typeof value === "string" ? value : value?.[0];
}
