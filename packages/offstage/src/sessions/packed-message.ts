// Packed messages: what an agent writes, without the names of its fields and what its run says already. Anything else stays as it is.
import { setField } from "../messages/json.ts";
import type { Message } from "../messages/message.ts";

/** What the place of a message says of it. */
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

/** The message in short, or as it is where it has a form of its own. */
export function packMessage(message: Message, known: Known = {}): PackedMessage | Message {
  const fields = message as unknown as Fields;
  const { content, metadata } = fields;
  const letter = letters[String(fields.role)];
  const packed = metadata === undefined ? 0 : packMetadata(metadata as Fields, known);
  const tail = packRest(letter, fields);
  if (letter === undefined || content === undefined || packed === undefined || tail === undefined) return message;
  return [letter, content, packed, ...tail];
}

/** The message that was packed, with its fields in the order agents write them. */
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

function packRest(letter: string | undefined, fields: Fields): unknown[] | undefined {
  const count = countOthers(fields, messageFields);
  if (letter === "t") return packResult(fields, count);
  if (count === 0) return [];
  const calls = fields.tool_calls;
  if (letter !== "a" || count !== 1 || !Array.isArray(calls) || !calls.every(isPlainCall)) return undefined;
  return [calls.map(({ id, function: { name, arguments: text } }) => [id, name, text])];
}

const messageFields: ReadonlySet<string> = new Set(["role", "content", "metadata"]);
const callFields: ReadonlySet<string> = new Set(["id", "type", "function"]);
const functionFields: ReadonlySet<string> = new Set(["name", "arguments"]);

function countOthers(fields: object, expected: ReadonlySet<string>): number {
  let count = 0;
  for (const key in fields) if (!expected.has(key)) count++;
  return count;
}

/** The fields besides the expected ones, where there are any. A rest pattern would say the same, at several times the price. */
export function othersOf(fields: object, expected: ReadonlySet<string>): Fields | undefined {
  let others: Fields | undefined;
  for (const key in fields) {
    const value = (fields as Fields)[key];
    if (expected.has(key) || value === undefined) continue;
    others ??= {};
    setField(others, key, value);
  }
  return others;
}

function packResult({ tool_call_id: id, name }: Fields, count: number): unknown[] | undefined {
  if (typeof id !== "string") return undefined;
  if (count === 1) return [id];
  return count === 2 && typeof name === "string" ? [id, name] : undefined;
}

function unpackResult([id, name]: readonly unknown[]): Fields {
  return name === undefined ? { tool_call_id: id } : { tool_call_id: id, name };
}

function isPlainCall(call: unknown): boolean {
  const { id, type, function: called } = (call ?? {}) as Fields;
  if (typeof id !== "string" || type !== "function" || typeof called !== "object" || called === null) return false;
  const { name, arguments: text } = called as Fields;
  if (typeof name !== "string" || typeof text !== "string") return false;
  return countOthers(call as object, callFields) === 0 && countOthers(called, functionFields) === 0;
}

function unpackCall([id, name, text]: readonly [string, string, string]): object {
  return { id, type: "function", function: { name, arguments: text } };
}

const metadataFields: ReadonlySet<string> = new Set("id createdAt runId step agent traceId spanId usage".split(" "));

// In this order; 0 stands for a field that is not there, 1 for what the place says.
function packMetadata(metadata: Fields, known: Known): unknown[] | undefined {
  const { id, createdAt, runId, step = 0, agent, traceId, spanId, usage } = metadata;
  const rest = othersOf(metadata, metadataFields);
  // 0 means that it is not there, so a step or usage that is 0 cannot be packed.
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
  if (packed.includes(undefined)) return undefined;
  if (rest !== undefined) packed.push(rest);
  else while (packed[packed.length - 1] === 0) packed.pop();
  return packed;
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

// Most ids begin with that of the run. Undefined where it is no text, or would be taken for a short one.
function packId(id: unknown, runId: unknown): string | 0 | undefined {
  if (id === undefined) return 0;
  if (typeof id !== "string" || id.startsWith(".")) return undefined;
  return typeof runId === "string" && id.startsWith(`${runId}.`) ? id.slice(runId.length) : id;
}

// Undefined where it is no text.
function packText(value: unknown, known?: string): string | 0 | 1 | undefined {
  if (value === undefined) return 0;
  if (typeof value !== "string") return undefined;
  return value === known ? 1 : value;
}

const usageFields: readonly string[] = [
  ...["inputTokens", "outputTokens", "totalTokens"],
  ...["cachedInputTokens", "reasoningTokens"],
];

/** Its counts as a list, where they stand in this order and at least the first three are there; else the usage as it is. */
export function packUsage(usage: unknown): unknown {
  if (typeof usage !== "object" || usage === null) return usage;
  const counts: number[] = [];
  for (const key in usage) {
    const place = usageFields.indexOf(key);
    const count = (usage as Fields)[key];
    // In their order, so that none is left out but at the end.
    if (place !== counts.length || typeof count !== "number") return usage;
    counts.push(count);
  }
  return counts.length < 3 ? usage : counts;
}

export function unpackUsage(packed: unknown): unknown {
  if (!Array.isArray(packed)) return packed;
  const usage: Fields = {};
  for (let i = 0; i < packed.length; i++) usage[usageFields[i] as string] = packed[i];
  return usage;
}
