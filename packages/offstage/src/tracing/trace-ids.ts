// W3C trace and span ids: random ones, and the trace id that belongs to a run id.

/** The trace id of spans that belong to no trace. */
export const noTraceId: string = "0".repeat(32);
/** The span id of spans that belong to no trace and record nothing. */
export const noSpanId: string = "0".repeat(16);

/** A new trace id: 32 hex digits. */
export function newTraceId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** A new span id: 16 random hex digits. Leaves out the middle of a UUID, which holds its version. */
export function newSpanId(): string {
  const uuid = crypto.randomUUID();
  return uuid.slice(0, 8) + uuid.slice(-8);
}

/** The id of the trace opened for a run: the digits of the run id if it is a UUID, else undefined. */
export function traceIdOf(runId: string): string | undefined {
  const digits = runId.replaceAll("-", "");
  return /^(?!0{32})[0-9a-f]{32}$/.test(digits) ? digits : undefined;
}

/** The id of the run that a trace was opened for; reverses `traceIdOf`. */
export function runIdOf(traceId: string): string {
  return traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
