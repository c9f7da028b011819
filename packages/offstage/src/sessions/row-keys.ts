// The names of lists and the keys of rows. Ids become short printable ASCII; numbers keep their order as text.

const longest = 96;
const usual = /^[\w-]*$/;

/** Encodes an id as a part of a key: injective, without "/" and ".", and at most 96 characters. */
export function idKey(id: string): string {
  return id.length <= longest && usual.test(id) ? id : escapedKey(id);
}

function escapedKey(id: string): string {
  const escaped = id.replace(/[^\w-]/g, (char) => `~${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (escaped.length <= longest) return escaped;
  return `${escaped.slice(0, 32)}~~${process.getBuiltinModule("node:crypto").createHash("sha256").update(escaped).digest("base64url")}`;
}

/** Encodes a whole number of at least 0 as text that sorts in the order of numbers. */
export function numberKey(n: number): string {
  const digits = n.toString(36);
  return digits.length.toString(36) + digits;
}

/** Decodes the number at the start of a key. */
export function keyNumber(key: string): number {
  return Number.parseInt(key.slice(1, 1 + Number.parseInt(key[0] ?? "", 36)), 36);
}

/** The part of a key after its number, which ends with the first dot. */
export function behindNumber(key: string): string {
  return key.slice(key.indexOf(".") + 1);
}

/** The lists of one namespace. Each session, run and trace has its own lists, so that it can be removed as a whole. */
export interface ListNames {
  /** Sessions by last activity. */
  readonly activity: string;
  /** The head of a session, and the mark of a run that has waited long for it. */
  head(sessionId: string): string;
  /** The conversation of a session, by position. */
  messages(sessionId: string): string;
  /** The runs of a session, by number. */
  runs(sessionId: string): string;
  /** The steps of the runs of a session, by run number. */
  steps(sessionId: string): string;
  /** The place of a run. */
  run(runId: string): string;
  /** The runs that have spans in a trace, and the spans that belong to no run. */
  trace(traceId: string): string;
  /** The traces with spans that belong to no run. */
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

/** The kinds of rows of a run: the letter after the run number. Values sort last because they are read separately. */
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

/** The owner of a list: a session with all its lists, or a run or trace. */
export interface ListOwner {
  /** Namespace and id of the session, as in names of lists. */
  readonly session?: string;
  /** The lists that expire together with this one, which is included. */
  readonly lists: readonly string[];
}

/** The owner of a list; undefined for a list of the whole store. */
export function ownerOf(list: string): ListOwner | undefined {
  const [, kind = "", space = "", id] = /^([ahmjsrtl])\/([^/]*)(?:\/([^/]*))?$/.exec(list) ?? [];
  if (kind === "") return undefined;
  if (id === undefined || !"hmjs".includes(kind)) return { lists: [list] };
  const session = `${space}/${id}`;
  return { session, lists: [`a/${space}`, ...Array.from("hmjs", (each) => `${each}/${session}`)] };
}

/** The keys of a run in the list of steps of its session. Keys from `values` on are read separately. */
export const stepKeys = {
  /** The assistant message whose calls are about to run. */
  intent: (run: number, step: number): string => `${numberKey(run)}.${rowKinds.intent}${numberKey(step)}`,
  child: (run: number, child: number): string => `${numberKey(run)}.${rowKinds.child}${numberKey(child)}`,
  result: (run: number, step: number, callId: string): string =>
    `${numberKey(run)}.${rowKinds.result}${numberKey(step)}.${idKey(callId)}`,
  /** A call that waits for approval and has not started. */
  approval: (run: number, step: number, callId: string): string =>
    `${numberKey(run)}.${rowKinds.approval}${numberKey(step)}.${idKey(callId)}`,
  step: (run: number, step: number): string => `${numberKey(run)}.${rowKinds.step}${numberKey(step)}`,
  /** Spans that belong to no step, by fence, because a resumed run ends more than once. */
  spans: (run: number, fence: number): string => `${numberKey(run)}.${rowKinds.spans}${numberKey(fence)}`,
  values: (run: number): string => `${numberKey(run)}.${rowKinds.value}`,
  value: (run: number, callId: string): string => `${numberKey(run)}.${rowKinds.value}${idKey(callId)}`,
} as const;
