// The options that lists and searches share: times, cursors and limits. Strictly checked, because an option that selects nothing by
// mistake looks like an empty store.
import { isObject, type JsonObject } from "../../base/json.ts";
import { type OptionRule, oneOf, someText, wholeFrom } from "../../base/options.ts";
import { runStatuses } from "../ports/run-record.ts";

/** A Date, ISO 8601 text, or epoch milliseconds. */
export type Time = Date | string | number;

/** Epoch milliseconds; NaN for a value that is no time. */
export function epochOf(time: unknown): number {
  if (time instanceof Date) return time.getTime();
  return typeof time === "number" ? time : Date.parse(String(time));
}

const someTime: OptionRule = {
  isFit: (value) => Number.isFinite(epochOf(value)),
  words: "a time (Date, ISO text or epoch milliseconds)",
};

function oneOrMore(rule: OptionRule): OptionRule {
  return {
    isFit: (value) => (Array.isArray(value) ? value.every((each) => rule.isFit(each)) : rule.isFit(value)),
    words: `${rule.words}, or a list of these`,
  };
}

/** Accepts a cursor that a list returned. Any other text would select all of the list, or none of it. */
export function someCursor(form: RegExp = /^\d+$/): OptionRule {
  return {
    isFit: (value) => typeof value === "string" && form.test(value),
    words: 'a "cursor" that the list returned',
  };
}

type FilterName = "limit" | "since" | "until" | "agent" | "model" | "status" | "label" | "text" | "metadata";

export const filterRules: Readonly<Record<FilterName, OptionRule>> = {
  limit: wholeFrom(0),
  since: someTime,
  until: someTime,
  agent: oneOrMore(someText),
  model: oneOrMore(someText),
  status: oneOrMore(oneOf(...runStatuses)),
  label: oneOrMore(someText),
  text: someText,
  metadata: { isFit: isObject, words: "an object with the values to find" },
};

/** The values of an option that takes one value or several; undefined if it was left out. */
export function valuesOf<T>(option: T | readonly T[] | undefined): readonly T[] | undefined {
  if (option === undefined) return undefined;
  return Array.isArray(option) ? option : [option as T];
}

/** True if a time, as a row has it, lies within the options. */
export function isWithin(
  time: string,
  { since, until }: { since?: Time | undefined; until?: Time | undefined },
): boolean {
  const at = Date.parse(time);
  return (since === undefined || at >= epochOf(since)) && (until === undefined || at <= epochOf(until));
}

/** The conditions of a time range, for a back end's own search. */
export function timeConditions(
  column: string,
  { since, until }: { since?: Time | undefined; until?: Time | undefined },
): { column: string; from?: string; before?: string }[] {
  if (since === undefined && until === undefined) return [];
  return [
    {
      column,
      ...(since !== undefined && { from: isoOf(Math.ceil(epochOf(since))) }),
      ...(until !== undefined && { before: isoOf(Math.floor(epochOf(until)) + 1) }),
    },
  ];
}

const earliest = Date.parse("0001-01-01T00:00:00.000Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

// Times beyond these have another form as text.
function isoOf(time: number): string {
  return new Date(Math.min(Math.max(time, earliest), latest)).toISOString();
}

/** True if metadata has all of these values. */
export function hasMetadata(metadata: JsonObject | undefined, wanted: JsonObject): boolean {
  return Object.entries(wanted).every(([key, value]) => JSON.stringify(metadata?.[key]) === JSON.stringify(value));
}

/** True if one of the texts contains another, in any case. */
export function containsText(texts: readonly (string | null | undefined)[], wanted: string): boolean {
  const lower = wanted.toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(lower));
}
