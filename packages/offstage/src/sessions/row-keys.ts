// Row keys: the names of lists and the keys of rows. Any id becomes short printable ASCII; numbers keep their order as text.
import { createHash } from "node:crypto";

const longest = 96;

/** Any id as one part of a key: injective, without "/" and ".", and at most 96 characters. */
export function idKey(id: string): string {
  if (id.length <= longest && /^[\w-]*$/.test(id)) return id;
  const escaped = id.replace(/[^\w-]/g, (char) => `~${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (escaped.length <= longest) return escaped;
  return `${escaped.slice(0, 32)}~~${createHash("sha256").update(escaped).digest("base64url")}`;
}

/** A whole number from 0 as text that orders as numbers do. */
export function numberKey(n: number): string {
  const digits = n.toString(36);
  return digits.length.toString(36) + digits;
}

/** The number that `numberKey` wrote. */
export function keyNumber(key: string): number {
  return Number.parseInt(key.slice(1), 36);
}

/** After every key there can be. */
export const lastKey = "\x7f";

/** The lists of one namespace, and of a session, a run or a trace in it. */
export interface ListNames {
  /** Sessions by last activity. */
  readonly activity: string;
  /** Runs by start. */
  readonly runs: string;
  head(sessionId: string): string;
  messages(sessionId: string): string;
  sessionRuns(sessionId: string): string;
  run(runId: string): string;
  trace(traceId: string): string;
}

export function listNames(namespace: string): ListNames {
  const space = idKey(namespace);
  const name = (kind: string) => (id: string) => `${kind}/${space}/${idKey(id)}`;
  return {
    activity: `a/${space}`,
    runs: `i/${space}`,
    head: name("h"),
    messages: name("m"),
    sessionRuns: name("j"),
    run: name("r"),
    trace: name("t"),
  };
}

/** The rows of a run's list. Everything before `values` is read with the run; whole values only when asked for. */
export const runKeys = {
  row: "a",
  child: (runId: string): string => `c.${idKey(runId)}`,
  result: (step: number, callId: string): string => `r${numberKey(step)}.${idKey(callId)}`,
  step: (step: number): string => `s${numberKey(step)}`,
  values: "v",
  value: (callId: string): string => `v.${idKey(callId)}`,
} as const;
