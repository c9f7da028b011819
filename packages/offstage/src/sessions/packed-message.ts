// The short stored form of messages: without field names, and without what the run row already says. Unusual messages are stored as they are.
import { isObject, setField } from "../base/json.ts";
import type { Message } from "../messages/message.ts";
import { isNumberOrNull, isText, mayBe, orZero, type Shape, some, tuple } from "./shape.ts";

/** Metadata that follows from the place of a message. */
export interface Known {
  readonly runId?: string | undefined;
  readonly agent?: string | undefined;
  readonly traceId?: string | undefined;
}

type Fields = Record<string, unknown>;

/** Role, content and metadata (0 for none); then the calls of an assistant message, or call id and name of a result. */
export type PackedMessage = readonly [role: string, content: unknown, metadata: unknown, ...rest: unknown[]];

const roles = { s: "system", u: "user", a: "assistant", t: "tool" } as const;
const letters: Readonly<Record<string, string>> = { system: "s", user: "u", assistant: "a", tool: "t" };

/** Packs a message; returns it as it is if it has an unusual form. */
export function packMessage(message: Message, known: Known = {}): PackedMessage | Message {
  const fields = message as unknown as Fields;
  const { role, content, metadata } = fields;
  const letter = letters[String(role)];
  if (letter === undefined || content === undefined) return message;
  const packed = metadata === undefined ? 0 : packMetadata(metadata as Fields, known);
  if (packed === undefined) return message;
  // Fields other than role, content and metadata.
  const otherCount = countFields(fields) - (metadata === undefined ? 2 : 3);
  if (otherCount === 0 && role !== "tool") return [letter, content, packed];
  const rest = packRest(fields, otherCount);
  return rest === undefined ? message : [letter, content, packed, ...rest];
}

/** Unpacks a message, with its fields in the order in which agents write them. */
export function unpackMessage(packed: PackedMessage | Message, known: Known = {}): Message {
  if (!Array.isArray(packed)) return packed as Message;
  const [letter, content, metadata, ...rest] = packed as unknown as PackedMessage;
  const role = roles[letter as keyof typeof roles];
  const message: Fields = role === "tool" ? { role, ...unpackResult(rest), content } : { role, content };
  if (role === "assistant" && rest[0] !== undefined)
    message.tool_calls = (rest[0] as [string, string, string][]).map(unpackCall);
  if (metadata !== 0) message.metadata = unpackMetadata(metadata as unknown[], known);
  return message as unknown as Message;
}

function packRest(fields: Fields, otherCount: number): unknown[] | undefined {
  if (fields.role === "tool") return packResult(fields, otherCount);
  return fields.role === "assistant" && otherCount === 1 ? packCalls(fields.tool_calls) : undefined;
}

function packCalls(calls: unknown): unknown[] | undefined {
  if (!Array.isArray(calls) || !calls.every(isPlainCall)) return undefined;
  return [calls.map(({ id, function: { name, arguments: text } }) => [id, name, text])];
}

function countFields(fields: object): number {
  return Object.keys(fields).length;
}

// Metadata fields that have no place of their own.
function otherMetadata(metadata: Fields): Fields | undefined {
  let others: Fields | undefined;
  for (const key in metadata) {
    const value = metadata[key];
    if (metadataFields.has(key) || value === undefined) continue;
    others ??= {};
    setField(others, key, value);
  }
  return others;
}

function packResult({ tool_call_id: id, name }: Fields, otherCount: number): unknown[] | undefined {
  if (typeof id !== "string") return undefined;
  if (otherCount === 1) return [id];
  return otherCount === 2 && typeof name === "string" ? [id, name] : undefined;
}

function unpackResult([id, name]: readonly unknown[]): Fields {
  return name === undefined ? { tool_call_id: id } : { tool_call_id: id, name };
}

function isPlainCall(call: unknown): boolean {
  const { id, type, function: called } = (call ?? {}) as Fields;
  if (typeof id !== "string" || type !== "function" || typeof called !== "object" || called === null) return false;
  const { name, arguments: text } = called as Fields;
  if (typeof name !== "string" || typeof text !== "string") return false;
  return countFields(call as object) === 3 && countFields(called) === 2;
}

function unpackCall([id, name, text]: readonly [string, string, string]): object {
  return { id, type: "function", function: { name, arguments: text } };
}

const metadataFields: ReadonlySet<string> = new Set("id createdAt runId step agent traceId spanId usage".split(" "));

// 0 stands for a missing field, 1 for the value that follows from the place. Undefined if the metadata cannot be packed.
function packMetadata(metadata: Fields, known: Known): unknown[] | undefined {
  const { id, createdAt, runId, step = 0, agent, traceId, spanId, usage } = metadata;
  // 0 means missing, so a step or usage of 0 cannot be packed.
  if (typeof step !== "number" || metadata.step === 0 || usage === 0 || Array.isArray(usage)) return undefined;
  const packed = [
    packId(id, runId),
    packText(createdAt),
    packText(runId, known.runId),
    step,
    packText(agent, known.agent),
    packText(traceId, known.traceId),
    packText(spanId),
    usage === undefined ? 0 : packUsage(usage),
  ];
  let found = 0;
  for (let i = 0; i < packed.length; i++) {
    if (packed[i] === undefined) return undefined;
    if (packed[i] !== 0) found++;
  }
  const rest = countFields(metadata) === found ? undefined : otherMetadata(metadata);
  if (rest !== undefined) packed.push(rest);
  else while (packed[packed.length - 1] === 0) packed.pop();
  return packed;
}

/** 0 stands for a missing field, 1 for the value that follows from the place of the message; rare fields come last. */
type PackedMetadata = readonly [
  id?: string | 0,
  createdAt?: string | 0,
  runId?: string | 0 | 1,
  step?: number | null,
  agent?: string | 0 | 1,
  traceId?: string | 0 | 1,
  spanId?: string | 0,
  usage?: unknown,
  rest?: Fields,
];

const isOne: Shape<1> = (value) => value === 1;
const isTextOrKnown = mayBe(orZero(some(isText, isOne)));
const isTextOrZero = mayBe(orZero(isText));
// Usage that an agent did not write may be any value except a list.
const isUsage: Shape<unknown> = (value): value is unknown => !Array.isArray(value) || value.every(isNumberOrNull);
const isMetadata = tuple<PackedMetadata>(
  isTextOrZero,
  isTextOrZero,
  isTextOrKnown,
  mayBe(isNumberOrNull),
  isTextOrKnown,
  isTextOrKnown,
  isTextOrZero,
  isUsage,
  mayBe(isObject),
);

/** True if the metadata of a packed message can be unpacked. The rest is checked like any message. */
export function hasFitMetadata([, , metadata]: readonly unknown[]): boolean {
  return metadata === 0 || isMetadata(metadata);
}

function unpackMetadata(packed: readonly unknown[], known: Known): Fields {
  const [id = 0, createdAt = 0, run = 0, step = 0, agent = 0, trace = 0, spanId = 0, usage = 0, rest] = packed;
  const runId = run === 1 ? known.runId : run;
  const metadata: Fields = {};
  if (id !== 0) metadata.id = String(id).startsWith(".") ? `${runId}${id}` : id;
  if (createdAt !== 0) metadata.createdAt = createdAt;
  if (run !== 0) metadata.runId = runId;
  if (step !== 0) metadata.step = step;
  if (agent !== 0) metadata.agent = agent === 1 ? known.agent : agent;
  if (trace !== 0) metadata.traceId = trace === 1 ? known.traceId : trace;
  if (spanId !== 0) metadata.spanId = spanId;
  if (usage !== 0) metadata.usage = unpackUsage(usage);
  return rest === undefined ? metadata : { ...metadata, ...(rest as Fields) };
}

// Most ids start with the run id. Undefined if the id is not text, or looks like a packed one.
function packId(id: unknown, runId: unknown): string | 0 | undefined {
  if (id === undefined) return 0;
  if (typeof id !== "string" || id.startsWith(".")) return undefined;
  return typeof runId === "string" && id[runId.length] === "." && id.startsWith(runId) ? id.slice(runId.length) : id;
}

// Undefined if the value is not text.
function packText(value: unknown, known?: string): string | 0 | 1 | undefined {
  if (value === undefined) return 0;
  if (typeof value !== "string") return undefined;
  return value === known ? 1 : value;
}

const usageFields: readonly string[] = [
  ...["inputTokens", "outputTokens", "totalTokens"],
  ...["cachedInputTokens", "reasoningTokens"],
];

/** Packs usage as a list of counts if its fields are the usual ones in the usual order; otherwise returns it as it is. */
export function packUsage(usage: unknown): unknown {
  if (typeof usage !== "object" || usage === null) return usage;
  const fields = Object.keys(usage);
  if (fields.length < 3) return usage;
  const counts: number[] = [];
  for (let i = 0; i < fields.length; i++) {
    const count = (usage as Fields)[fields[i] as string];
    if (fields[i] !== usageFields[i] || typeof count !== "number") return usage;
    counts.push(count);
  }
  return counts;
}

export function unpackUsage(packed: unknown): unknown {
  if (!Array.isArray(packed)) return packed;
  const usage: Fields = {};
  for (let i = 0; i < packed.length; i++) usage[usageFields[i] as string] = packed[i];
  return usage;
}
