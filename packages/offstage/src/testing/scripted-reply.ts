// The replies of a scripted model, and their check: a mistake in a script would be a model without words, and a test that
// proves nothing.
import { isObject } from "../base/json.ts";
import { anything, checkOptions, type OptionHints, type OptionRule, shownValue } from "../base/options.ts";
import { messageOf, OffstageError } from "../errors.ts";

export interface ScriptedToolCall {
  readonly name: string;
  /** The input, which is written as JSON. */
  readonly input?: unknown;
  /** The input as raw text instead: for invalid JSON. */
  readonly arguments?: string | undefined;
  /**
   * Default: `call_0_1`, from the numbers of the request and of the call. Every model starts at 0, so two models in one session
   * use the same ids; pass your own if that matters.
   */
  readonly id?: string | undefined;
}

export interface ScriptedReply {
  readonly text?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
  readonly usage?: ScriptedUsage | undefined;
  /** Default "tool-calls" with tool calls, else "stop". */
  readonly finishReason?: string | undefined;
}

export interface ScriptedUsage {
  /** Default 10. */
  readonly inputTokens?: number | undefined;
  /** Default 5. */
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

const text: OptionRule = { isFit: (value) => typeof value === "string", words: "text" };
const count: OptionRule = { isFit: (value) => typeof value === "number", words: "a number" };

type Rules<Fields> = Readonly<Record<keyof Fields, OptionRule>>;

const replyRules: Rules<ScriptedReply> = {
  text,
  reasoning: text,
  toolCalls: { isFit: Array.isArray, words: "a list of calls" },
  usage: { isFit: isObject, words: "an object" },
  finishReason: text,
};
const callRules: Rules<ScriptedToolCall> = { name: text, input: anything, arguments: text, id: text };
const usageRules: Rules<ScriptedUsage> = {
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
};

const replies = `text, { ${Object.keys(replyRules).join(", ")} } or an Error`;

/** Throws `invalid-argument` at the first entry that is no reply, and says which. */
export function checkScript(script: unknown): void {
  if (typeof script === "function") return;
  if (!Array.isArray(script))
    throw invalid(`A script must be a list of replies, or a function that returns them; found ${shownValue(script)}.`);
  const entries = `${replies}, or a function that returns one of these`;
  for (const [index, entry] of script.entries())
    if (typeof entry !== "function") checkReply(entry, { place: `script[${index}]`, expected: entries });
}

/** Throws `invalid-argument` if a function of the script returned something else than a reply. */
export function checkReturned(reply: unknown, index: number): void {
  checkReply(reply, { place: `the reply to request ${index + 1}`, expected: replies });
}

function checkReply(reply: unknown, { place, expected }: { place: string; expected: string }): void {
  if (typeof reply === "string" || reply instanceof Error) return;
  if (!isFields(reply)) throw invalid(`${place} must be ${expected}; found ${shownValue(reply)}.`);
  check(reply, { rules: replyRules, hints: { content: '"text"', tool_calls: '"toolCalls"' }, place });
  const usageHints = { input: '"inputTokens"', output: '"outputTokens"' };
  check(reply.usage ?? {}, { rules: usageRules, hints: usageHints, place: `${place}.usage` });
  for (const [index, call] of ((reply.toolCalls ?? []) as readonly unknown[]).entries())
    checkCall(call, `${place}.toolCalls[${index}]`);
}

// `{}` is a reply that says nothing; a promise or a map is a mistake.
function isFields(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  return Object.keys(value).length > 0 || [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

function checkCall(call: unknown, place: string): void {
  const hints = { args: '"input"', toolName: '"name"', toolCallId: '"id"' };
  if (isObject(call)) check(call, { rules: callRules, hints, place });
  if (!isObject(call) || call.name === undefined)
    throw invalid(`${place} must be a call such as { name, input }; found ${shownValue(call)}.`);
}

interface Expected {
  readonly rules: Readonly<Record<string, OptionRule>>;
  /** Names of other libraries. */
  readonly hints: OptionHints;
  readonly place: string;
}

function check(value: unknown, { rules, hints, place }: Expected): void {
  try {
    checkOptions(value, rules, "reply", hints);
  } catch (error) {
    throw invalid(`${place}: ${messageOf(error)}`);
  }
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
