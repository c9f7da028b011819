// Checks scripts of a scripted model: a slip in one would be a model that says nothing, and a test that proves nothing.

import { isObject } from "../base/json.ts";
import { anything, checkOptions, type OptionHints, type OptionRule, shownValue } from "../base/options.ts";
import { messageOf, OffstageError } from "../errors.ts";
import type { ScriptedReply, ScriptedToolCall } from "./scripted-reply.ts";

const text = { isFit: (value: unknown) => typeof value === "string", words: "text" };
const count = { isFit: (value: unknown) => typeof value === "number", words: "a number" };
const list = { isFit: Array.isArray, words: "a list of calls" };

/** What a part of a script may hold, and the names other libraries use. */
interface Part<Fields> {
  readonly rules: Readonly<Record<keyof Fields, OptionRule>>;
  readonly hints: OptionHints;
}

const aCall: Part<ScriptedToolCall> = {
  rules: { name: text, input: anything, arguments: text, id: text },
  hints: { args: '"input"', toolName: '"name"', toolCallId: '"id"' },
};
const someUsage: Part<NonNullable<ScriptedReply["usage"]>> = {
  rules: { inputTokens: count, outputTokens: count, cachedInputTokens: count, reasoningTokens: count },
  hints: { input: '"inputTokens"', output: '"outputTokens"' },
};
const aReply: Part<ScriptedReply> = {
  rules: {
    text,
    reasoning: text,
    toolCalls: list,
    usage: { isFit: isObject, words: "an object" },
    finishReason: text,
  },
  hints: { content: '"text"', tool_calls: '"toolCalls"' },
};

const replies = `text, { ${Object.keys(aReply.rules).join(", ")} } or an Error`;

/** Throws `invalid-argument` at the first entry that no model can play, saying which and what is possible. */
export function checkScript(script: unknown): void {
  if (typeof script === "function") return;
  if (!Array.isArray(script))
    throw invalid(`A script is a list of replies, or a function that gives them; found ${shownValue(script)}.`);
  for (let i = 0; i < script.length; i++) {
    if (typeof script[i] === "function") continue;
    checkReply(script[i], { place: `script[${i}]`, possible: `${replies}, or a function that gives one of these` });
  }
}

/** The same for what a function of the script gave for a request. */
export function checkGiven(reply: unknown, index: number): void {
  checkReply(reply, { place: `the reply to request ${index + 1}`, possible: replies });
}

function checkReply(reply: unknown, { place, possible }: { place: string; possible: string }): void {
  if (typeof reply === "string" || reply instanceof Error) return;
  if (!isObject(reply)) throw invalid(`${place} must be ${possible}; found ${shownValue(reply)}.`);
  checkFields(reply, aReply, place);
  if (saysNothing(reply)) throw invalid(`${place} must be ${possible}; found an object with none of these.`);
  if (reply.usage !== undefined) checkFields(reply.usage, someUsage, `${place}.usage`);
  for (const [i, call] of ((reply.toolCalls ?? []) as readonly unknown[]).entries())
    checkCall(call, `${place}.toolCalls[${i}]`);
}

// `{}` is a model that says nothing; a promise, a map or an object of other fields is a slip.
function saysNothing(reply: object): boolean {
  const given = Object.keys(reply);
  if (given.some((name) => Object.hasOwn(aReply.rules, name))) return false;
  return given.length > 0 || ![Object.prototype, null].includes(Object.getPrototypeOf(reply));
}

function checkCall(call: unknown, place: string): void {
  if (isObject(call)) checkFields(call, aCall, place);
  if (!isObject(call) || call.name === undefined)
    throw invalid(`${place} must be a call, as { name, input }; found ${shownValue(call)}.`);
}

// The place is a prefix of the sentence: a script has many replies.
function checkFields(value: unknown, { rules, hints }: Part<object>, place: string): void {
  try {
    checkOptions(value, rules, "reply", hints);
  } catch (error) {
    throw invalid(`${place}: ${messageOf(error)}`);
  }
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
