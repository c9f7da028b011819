// The parts that lists and searches share: the options, the conditions that follow from them, and the rows, page by page. Options are strictly
// checked, because one that selects nothing by mistake looks like an empty store.
import { isObject, type JsonObject } from "../../base/json.ts";
import { type OptionRule, oneOf, someText } from "../../base/options.ts";
import type { NamespaceRows } from "../head/namespace-rows.ts";
import { rowsThatMeet } from "../head/select-from.ts";
import { runStatuses } from "../ports/run-record.ts";
import type { Condition, Value } from "../ports/store-driver.ts";
import { type OrderName, type RowOf, tables } from "../ports/tables.ts";

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

/** The rule for one value or a list of values. */
export function oneOrMore(rule: OptionRule): OptionRule {
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

/** Which part of a list to read, and in which direction. */
export interface ListPart {
  /** Default "newest" first. */
  readonly order?: "newest" | "oldest" | undefined;
  /** The maximum number. Default: all. */
  readonly limit?: number | undefined;
  /** The `cursor` of the last one of the previous page. */
  readonly before?: string | undefined;
}

type SharedOption = "order" | "limit" | "before" | "since" | "until" | "agent" | "status" | "text" | "metadata";

/** The rules of the options that lists share. */
export const listRules: Readonly<Record<SharedOption, OptionRule>> = {
  limit: {
    isFit: (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0,
    words: "a whole number of at least 0",
  },
  since: someTime,
  until: someTime,
  agent: oneOrMore(someText),
  status: oneOrMore(oneOf(...runStatuses)),
  text: someText,
  metadata: { isFit: isObject, words: "an object with the values to find" },
  order: oneOf("newest", "oldest"),
  before: someCursor(),
};

/** The values of an option that takes one value or several; undefined if it was left out. */
export function valuesOf<T>(option: T | readonly T[] | undefined): readonly T[] | undefined {
  if (option === undefined) return undefined;
  return Array.isArray(option) ? option : [option as T];
}

/** The condition that a column has one of the values of an option; none if the option was left out. */
export function isOneOf(column: string, option: Value | readonly Value[] | undefined): Condition[] {
  const values = valuesOf(option);
  return values === undefined ? [] : [{ column, in: values }];
}

/** An option of a time range. */
export interface TimeRange {
  readonly since?: Time | undefined;
  readonly until?: Time | undefined;
}

/** The condition that the time of a column lies within the options; none if they were left out. */
export function isWithin(column: string, { since, until }: TimeRange): Condition[] {
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

/** The rows of a list: those of a table that meet conditions, by one of its orders. */
interface Listed<Name extends "sessions" | "runs"> {
  readonly table: Name;
  readonly order: OrderName<Name>;
  readonly where: readonly Condition[];
}

const rowsPerPage = 100;

/** The readable rows of a list, page by page. Without a limit, it is one page and one snapshot. */
export async function* listPages<Name extends "sessions" | "runs">(
  access: NamespaceRows,
  { table, order, where }: Listed<Name>,
  { order: direction, limit: most, before }: ListPart,
): AsyncGenerator<RowOf<Name>[], void> {
  const [column = ""] = tables[table].orders[order]?.by ?? [];
  const isOldest = direction === "oldest";
  const limit = most === undefined ? undefined : Math.max(most, rowsPerPage);
  for (let cursor = before === undefined ? undefined : Number(before); ; ) {
    const isBefore = cursor === undefined ? [] : [{ column, before: cursor }];
    const range = isOldest
      ? { from: cursor === undefined ? undefined : cursor + 1 }
      : { before: cursor, reverse: true };
    // Reading in the order is faster than a search that sorts, if there is nothing to search for.
    const page =
      isOldest || where.length === 0
        ? await access.readRaw(table, { order, limit, ...range })
        : await access.selectRaw({ table, where: [...where, ...isBefore], newestBy: order, limit });
    yield access.openAll(table, rowsThatMeet(page, where));
    if (limit === undefined || page.length < limit) return;
    cursor = Number(page.at(-1)?.[column]);
  }
}
