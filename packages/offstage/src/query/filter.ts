// Filter: the messages that meet every criterion, in order. One pass; returns the messages themselves, never copies.
import { checkOptions, type OptionRule, yesOrNo } from "../base/options.ts";
import { withinTime } from "../base/time-limit.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { contentPattern, patternTooSlow } from "./content-pattern.ts";
import { callsOf, contentOf, isErrorOf, metadataOf, nameOfCall, nameOfResult, timeOf } from "./readers.ts";
import { toolPairs } from "./tool-calls.ts";

/** Criteria that a message must meet, all of them. A criterion that is left out or undefined has no effect. */
export interface MessageCriteria {
  /** The role, or any of several. An unknown role finds nothing. */
  readonly role?: string | readonly string[] | undefined;
  /** Calls of this tool, and the results that answer them. */
  readonly toolName?: string | undefined;
  /** Text found anywhere in the content, in any case; or a RegExp. */
  readonly content?: string | RegExp | undefined;
  /** `true` reads the text in `content` as a regular expression, which runs under a time limit. Or a RegExp that the content matches. */
  readonly regex?: boolean | RegExp | undefined;
  readonly runId?: string | undefined;
  /** The name of the agent that took part. */
  readonly agent?: string | undefined;
  /** False leaves out messages of subagents; true finds only those. */
  readonly subagents?: boolean | undefined;
  /** True finds messages marked as failures, false all others. */
  readonly isError?: boolean | undefined;
  /** Made at this time or later. Messages without a time are not found. */
  readonly since?: Date | string | number | undefined;
  /** Made at this time or earlier. */
  readonly until?: Date | string | number | undefined;
}

/** A criterion of the caller's own. */
export type MessagePredicate = (message: Message, index: number) => boolean;

/** The time that an untrusted pattern may take: a base, and a little more for each message. */
const patternBudget = { baseMs: 500, perMessageMs: 0.004 };

interface Test {
  readonly matches: MessagePredicate;
  /** Set if the test runs a pattern that may never finish. */
  readonly untrusted?: RegExp;
}

/** Returns the messages that meet all of these criteria. */
export function filterMessages(
  list: readonly Message[],
  criteria: readonly (MessageCriteria | MessagePredicate)[],
): Message[] {
  const tests = criteria.flatMap((one) => (typeof one === "function" ? [{ matches: one }] : testsOf(one, list)));
  const pattern = tests.find((test) => test.untrusted !== undefined)?.untrusted;
  if (pattern === undefined) return select(list, tests);
  const timeoutMs = Math.ceil(patternBudget.baseMs + list.length * patternBudget.perMessageMs);
  return withinTime(() => select(list, tests), { timeoutMs, late: () => patternTooSlow(pattern, timeoutMs) });
}

function select(list: readonly Message[], tests: readonly Test[]): Message[] {
  return list.filter((message, index) => tests.every(({ matches }) => matches(message, index)));
}

const text: OptionRule = { isFit: (value) => typeof value === "string", words: "text" };
const time: OptionRule = {
  isFit: (value) => !Number.isNaN(epochOf(value as Date)),
  words: "a time (Date, ISO text or epoch milliseconds)",
};

const criteriaRules: Readonly<Record<keyof MessageCriteria, OptionRule>> = {
  role: {
    isFit: (value) => typeof value === "string" || (Array.isArray(value) && value.every(text.isFit)),
    words: "a role or a list of roles",
  },
  toolName: text,
  content: { isFit: (value) => typeof value === "string" || value instanceof RegExp, words: "text or a RegExp" },
  regex: {
    isFit: (value) => typeof value === "boolean" || value instanceof RegExp,
    words: 'a RegExp, or true beside a pattern as text, { content: "Err.*", regex: true }',
  },
  runId: text,
  agent: text,
  subagents: yesOrNo,
  isError: yesOrNo,
  since: time,
  until: time,
};

/** The names of Python's MessageQuery. */
const hints = { tool_name: "toolName", run_id: "runId", is_error: "isError" };

type Given<Key extends keyof MessageCriteria> = NonNullable<MessageCriteria[Key]>;
type TestMaker<Key extends keyof MessageCriteria> = (
  wanted: Given<Key>,
  criteria: MessageCriteria,
  list: readonly Message[],
) => Test | undefined;

// In the order in which they are tried: cheap tests that rule out most messages come first.
const makers: { readonly [Key in keyof MessageCriteria]-?: TestMaker<Key> } = {
  role: (wanted) => ({ matches: roleTest(wanted) }),
  runId: (wanted) => ({ matches: (message) => metadataOf(message).runId === wanted }),
  agent: (wanted) => ({ matches: (message) => metadataOf(message).agent === wanted }),
  subagents: (wanted) => ({ matches: (message) => (typeof metadataOf(message).parentRunId === "string") === wanted }),
  isError: (wanted) => ({ matches: (message) => isErrorOf(message) === wanted }),
  toolName: (wanted, _criteria, list) => ({ matches: toolTest(wanted, list) }),
  since: (wanted) => ({ matches: timeTest((time) => time >= epochOf(wanted)) }),
  until: (wanted) => ({ matches: timeTest((time) => time <= epochOf(wanted)) }),
  content: (wanted, { regex }) => contentTest(wanted, regex === true),
  regex: regexTest,
};

function testsOf(criteria: MessageCriteria, list: readonly Message[]): Test[] {
  checkOptions(criteria, criteriaRules, "filter", hints);
  const keys = Object.keys(makers) as (keyof typeof makers)[];
  return keys.flatMap((key) => {
    const make = makers[key] as TestMaker<typeof key>;
    const wanted = criteria[key];
    return wanted === undefined ? [] : (make(wanted as never, criteria, list) ?? []);
  });
}

function roleTest(wanted: string | readonly string[]): MessagePredicate {
  if (typeof wanted === "string") return (message) => (message as Message | null | undefined)?.role === wanted;
  return (message) => wanted.includes((message as Message | null | undefined)?.role as string);
}

function toolTest(wanted: string, list: readonly Message[]): MessagePredicate {
  let answers: ReadonlySet<number> | undefined;
  return (message, index) => {
    const role = (message as Message | null | undefined)?.role;
    if (role === "assistant") return callsOf(message).some((call) => nameOfCall(call) === wanted);
    if (role !== "tool") return false;
    const name = nameOfResult(message);
    if (name !== undefined) return name === wanted;
    answers ??= namelessAnswers(wanted, list);
    return answers.has(index);
  };
}

function namelessAnswers(wanted: string, list: readonly Message[]): ReadonlySet<number> {
  const { pairs } = toolPairs(list);
  return new Set(pairs.flatMap((pair) => (pair.toolName === wanted ? [pair.resultIndex] : [])));
}

function epochOf(time: Date | string | number): number {
  if (time instanceof Date) return time.getTime();
  return typeof time === "string" ? Date.parse(time) : typeof time === "number" ? time : Number.NaN;
}

function timeTest(meets: (time: number) => boolean): MessagePredicate {
  return (message) => {
    const time = timeOf(message);
    return time !== undefined && meets(time);
  };
}

// True and false say how to read `content`; a RegExp is a test of its own.
function regexTest(wanted: boolean | RegExp, { content }: MessageCriteria): Test | undefined {
  if (wanted instanceof RegExp) return contentTest(wanted, false);
  if (!wanted || content !== undefined) return undefined;
  const sentence = `"regex" must be ${criteriaRules.regex.words}; found true without "content".`;
  throw new OffstageError("invalid-argument", sentence);
}

function contentTest(wanted: string | RegExp, regex: boolean): Test {
  const { pattern, isUntrusted } = contentPattern(wanted, regex);
  const matches: MessagePredicate = (message) => {
    const text = contentOf(message);
    return text !== undefined && pattern.test(text);
  };
  return isUntrusted ? { matches, untrusted: pattern } : { matches };
}
