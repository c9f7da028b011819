// Filter: the messages that meet every criterion, in order. One pass; the messages themselves, never copies.

import { shownValue } from "../base/options.ts";
import { withinTime } from "../base/time-limit.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { contentPattern, patternTooSlow } from "./content-pattern.ts";
import { callsOf, contentOf, isErrorOf, metadataOf, nameOfCall, nameOfResult, timeOf } from "./readers.ts";
import { toolPairs } from "./tool-pairs.ts";

/** What a message must meet, all of it. A criterion that is left out, or undefined, asks nothing. */
export interface MessageCriteria {
  /** The role, or any of several. A role that nobody has finds nothing. */
  readonly role?: string | readonly string[] | undefined;
  /** Calls of this tool, and the results that answer them. */
  readonly toolName?: string | undefined;
  /** Text found anywhere in the content, in any case; or a RegExp. */
  readonly content?: string | RegExp | undefined;
  /** `true` reads a `content` text as a regular expression, which then runs under a time limit; or a RegExp the content meets. */
  readonly regex?: boolean | RegExp | undefined;
  readonly runId?: string | undefined;
  /** The name of the agent that took part. */
  readonly agent?: string | undefined;
  /** Messages marked as failures, or those that are not. */
  readonly isError?: boolean | undefined;
  /** Made at this time or later. A message that does not say when it was made is not found. */
  readonly since?: Date | string | number | undefined;
  /** Made at this time or earlier. */
  readonly until?: Date | string | number | undefined;
}

/** A criterion of the caller's own. */
export type MessagePredicate = (message: Message, index: number) => boolean;

/** How long an untrusted pattern may take: a base, and a little more for each message. */
const patternBudget = { baseMs: 500, perMessageMs: 0.004 };

interface Test {
  readonly matches: MessagePredicate;
  /** Set where the test runs a pattern that may never finish. */
  readonly untrusted?: RegExp;
}

/** The messages that meet all of these criteria. */
export function filterMessages(
  list: readonly Message[],
  criteria: readonly (MessageCriteria | MessagePredicate)[],
): Message[] {
  const tests = criteria.flatMap((one) => (typeof one === "function" ? [{ matches: one }] : testsOf(one, list)));
  const untrusted = tests.find((test) => test.untrusted !== undefined)?.untrusted;
  if (untrusted === undefined) return select(list, tests);
  const timeoutMs = Math.ceil(patternBudget.baseMs + list.length * patternBudget.perMessageMs);
  const late = () => patternTooSlow(untrusted, timeoutMs);
  return withinTime(() => select(list, tests), { timeoutMs, late });
}

function select(list: readonly Message[], tests: readonly Test[]): Message[] {
  const [first, ...rest] = tests.map((test) => test.matches);
  if (first === undefined) return list.slice();
  const found: Message[] = [];
  for (let i = 0; i < list.length; i++) {
    const message = list[i] as Message;
    if (first(message, i) && (rest.length === 0 || meetsAll(rest, message, i))) found.push(message);
  }
  return found;
}

function meetsAll(tests: readonly MessagePredicate[], message: Message, index: number): boolean {
  for (const matches of tests) if (!matches(message, index)) return false;
  return true;
}

type Given<Key extends keyof MessageCriteria> = NonNullable<MessageCriteria[Key]>;
type TestMaker<Key extends keyof MessageCriteria> = (
  wanted: Given<Key>,
  criteria: MessageCriteria,
  list: readonly Message[],
) => Test | undefined;

// In the order in which they are tried: what is cheap and rules out most comes first.
const makers: { readonly [Key in keyof MessageCriteria]-?: TestMaker<Key> } = {
  role: (wanted) => ({ matches: roleTest(wanted) }),
  runId: (wanted) => ({ matches: (message) => metadataOf(message).runId === wanted }),
  agent: (wanted) => ({ matches: (message) => metadataOf(message).agent === wanted }),
  isError: (wanted) => ({ matches: (message) => isErrorOf(message) === wanted }),
  toolName: (wanted, _criteria, list) => ({ matches: toolTest(wanted, list) }),
  since: (wanted) => ({ matches: timeTest("since", wanted, (time, limit) => time >= limit) }),
  until: (wanted) => ({ matches: timeTest("until", wanted, (time, limit) => time <= limit) }),
  content: (wanted, { regex }) => contentTest(wanted, regex === true),
  regex: regexTest,
};

function testsOf(criteria: MessageCriteria, list: readonly Message[]): Test[] {
  const known = Object.keys(makers);
  const unknown = Object.keys(criteria).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const sentence = `There is no criterion "${unknown}" to filter messages by; there are ${known.join(", ")}.`;
    throw new OffstageError("invalid-argument", sentence);
  }
  const keys = known as (keyof typeof makers)[];
  return keys.flatMap((key) => {
    const make = makers[key] as TestMaker<typeof key>;
    const wanted = criteria[key];
    return wanted === undefined || wanted === null ? [] : (make(wanted as never, criteria, list) ?? []);
  });
}

function roleTest(wanted: string | readonly string[]): MessagePredicate {
  if (typeof wanted === "string") return (message) => (message as Message | null | undefined)?.role === wanted;
  if (!Array.isArray(wanted))
    throw new OffstageError("invalid-argument", `"role" is a role or a list of roles; found ${shownValue(wanted)}.`);
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

function timeTest(
  name: string,
  wanted: Date | string | number,
  meets: (time: number, limit: number) => boolean,
): MessagePredicate {
  const limit = wanted instanceof Date ? wanted.getTime() : typeof wanted === "number" ? wanted : Date.parse(wanted);
  if (Number.isNaN(limit)) {
    throw new OffstageError(
      "invalid-argument",
      `"${name}" must be a time (Date, ISO text or epoch milliseconds); found ${JSON.stringify(wanted)}.`,
    );
  }
  return (message) => {
    const time = timeOf(message);
    return time !== undefined && meets(time, limit);
  };
}

// True or false says how `content` is read; a RegExp is a test of its own.
function regexTest(wanted: boolean | RegExp, { content }: MessageCriteria): Test | undefined {
  if (wanted instanceof RegExp) return contentTest(wanted, false);
  if (wanted === false || (wanted === true && content !== undefined && content !== null)) return undefined;
  const found = wanted === true ? 'true without "content"' : shownValue(wanted);
  const sentence = `"regex" is a RegExp, or true beside a pattern as text, { content: "Err.*", regex: true }; found ${found}.`;
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
