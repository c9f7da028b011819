// Row keys: the names of lists and the keys of rows. Any id becomes short printable ASCII; numbers keep their order as text.

const longest = 96;
const usual = /^[\w-]*$/;

/** Any id as one part of a key: injective, without "/" and ".", and at most 96 characters. */
export function idKey(id: string): string {
  return id.length <= longest && usual.test(id) ? id : escapedKey(id);
}

function escapedKey(id: string): string {
  const escaped = id.replace(/[^\w-]/g, (char) => `~${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (escaped.length <= longest) return escaped;
  return `${escaped.slice(0, 32)}~~${process.getBuiltinModule("node:crypto").createHash("sha256").update(escaped).digest("base64url")}`;
}

/** A whole number from 0 as text that orders as numbers do. */
export function numberKey(n: number): string {
  const digits = n.toString(36);
  return digits.length.toString(36) + digits;
}

/** The number that `numberKey` wrote, at the start of a key. */
export function keyNumber(key: string): number {
  return Number.parseInt(key.slice(1, 1 + Number.parseInt(key[0] ?? "", 36)), 36);
}

/** What stands behind the first dot of a key, which ends its number. */
export function behindNumber(key: string): string {
  return key.slice(key.indexOf(".") + 1);
}

/** The lists of one namespace. Each session, run and trace has lists of its own, so that they can go as a whole. */
export interface ListNames {
  /** Sessions by last activity. */
  readonly activity: string;
  /** The row of a session that says how it stands, and the mark of whoever has waited for it for long. */
  head(sessionId: string): string;
  /** Its conversation, by position. */
  messages(sessionId: string): string;
  /** Its runs, by number. */
  runs(sessionId: string): string;
  /** What its runs did, by number of the run. */
  steps(sessionId: string): string;
  /** Where a run is. */
  run(runId: string): string;
  /** Which runs have spans in a trace, and spans that belong to no run. */
  trace(traceId: string): string;
  /** The traces with spans that belong to no run: no session leads to them. */
  readonly looseTraces: string;
}

export function listNames(namespace: string): ListNames {
  const space = idKey(namespace);
  const name = (kind: string) => (id: string) => `${kind}/${space}/${idKey(id)}`;
  return {
    activity: `a/${space}`,
    head: name("h"),
    messages: name("m"),
    runs: name("j"),
    steps: name("s"),
    run: name("r"),
    trace: name("t"),
    looseTraces: `l/${space}`,
  };
}

/** What a row of a run is: the letter behind the run's number. A value is the last, for it is read only when asked for. */
export const rowKinds = {
  approval: "a",
  child: "c",
  intent: "i",
  result: "r",
  step: "s",
  spans: "t",
  value: "v",
} as const;

export type RowKind = (typeof rowKinds)[keyof typeof rowKinds];

/** What a list belongs to, as its name says: a session with all of its lists, or something that is found by an id of its own. */
export interface ListOwner {
  /** The session: its namespace and its id, as they stand in names. */
  readonly session?: string;
  /** The lists that live and go together with this one, itself among them. */
  readonly lists: readonly string[];
}

/** Whose list this is; undefined for one of the store as a whole. */
export function ownerOf(list: string): ListOwner | undefined {
  const [, kind = "", space = "", id] = /^([ahmjsrtl])\/([^/]*)(?:\/([^/]*))?$/.exec(list) ?? [];
  if (kind === "") return undefined;
  if (id === undefined || !"hmjs".includes(kind)) return { lists: [list] };
  const session = `${space}/${id}`;
  return { session, lists: [`a/${space}`, ...Array.from("hmjs", (each) => `${each}/${session}`)] };
}

/** The rows of a run in its session's list of steps. Those from `values` on are read only when asked for. */
export const stepKeys = {
  /** Calls that are about to run. */
  intent: (run: number, step: number): string => `${numberKey(run)}.${rowKinds.intent}${numberKey(step)}`,
  child: (run: number, child: number): string => `${numberKey(run)}.${rowKinds.child}${numberKey(child)}`,
  result: (run: number, step: number, callId: string): string =>
    `${numberKey(run)}.${rowKinds.result}${numberKey(step)}.${idKey(callId)}`,
  /** A call that waits for approval, and has not begun. */
  approval: (run: number, step: number, callId: string): string =>
    `${numberKey(run)}.${rowKinds.approval}${numberKey(step)}.${idKey(callId)}`,
  step: (run: number, step: number): string => `${numberKey(run)}.${rowKinds.step}${numberKey(step)}`,
  /** Spans that came with no step, by the fence they were written under: a run may end more than once. */
  spans: (run: number, fence: number): string => `${numberKey(run)}.${rowKinds.spans}${numberKey(fence)}`,
  values: (run: number): string => `${numberKey(run)}.${rowKinds.value}`,
  value: (run: number, callId: string): string => `${numberKey(run)}.${rowKinds.value}${idKey(callId)}`,
} as const;
