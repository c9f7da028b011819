// Options that several commands share, and how their values are read.
import { UsageError } from "./arguments.ts";
import { ageOf } from "./output/words.ts";

export const sinceOption = {
  type: "string",
  value: "time",
  text: "only from this time on: 2d, 3h, 30min or 2026-11-01",
} as const;
export const untilOption = { type: "string", value: "time", text: "only up to this time" } as const;
export const limitOption = { type: "string", value: "n", text: "at most this many" } as const;

export const runStatusOption = {
  type: "string",
  text: "only with this status",
  choices: ["running", "completed", "stopped", "failed", "interrupted", "waiting"],
  multiple: true,
} as const;

/** The time of an option: an age such as "2d", or a date. */
export function readTime(text: string | undefined, name: string, now: number = Date.now()): Date | undefined {
  if (text === undefined) return undefined;
  const age = ageOf(text);
  const time = new Date(age === undefined ? text : now - age);
  if (!Number.isNaN(time.getTime())) return time;
  throw new UsageError(
    `--${name} takes an age such as 2d, 3h or 30min, or a date such as 2026-11-01; found "${text}".`,
  );
}

/** The whole number of an option. */
export function readCount(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} takes a whole number; found "${text}".`);
}
