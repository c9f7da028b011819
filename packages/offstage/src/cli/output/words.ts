// Words for times, durations, counts, money and status, short enough for a column.

import { isOffstageError, messageOf } from "../../errors.ts";
import { shownDuration } from "../../tracing/render-trace.ts";
import type { Style } from "../io.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago a time was; the day, for what is older than a month. */
export function ago(time: string | undefined, now: number = Date.now()): string {
  const at = Date.parse(time ?? "");
  if (Number.isNaN(at)) return "";
  const age = now - at;
  if (age > 30 * day || age < -minute) return new Date(at).toISOString().slice(0, 10);
  if (age < minute) return "just now";
  if (age < hour) return `${Math.floor(age / minute)} min ago`;
  return age < day ? `${Math.floor(age / hour)} h ago` : `${Math.floor(age / day)} d ago`;
}

/** A time in the clock of the reader, to the second. */
export function clock(time: string | undefined): string {
  const at = new Date(time ?? "");
  if (Number.isNaN(at.getTime())) return "";
  const two = (part: number): string => String(part).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** A count in at most five columns: 999, 1.2k, 34k, 5.6M. */
export function short(count: number | undefined): string {
  if (count === undefined) return "";
  if (count < 1000) return String(Math.round(count));
  const [scaled, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

/** A whole number with separators. */
export function whole(count: number): string {
  return count.toLocaleString("en");
}

/** US dollars, with as many digits as a small sum needs; nothing if it is not known. */
export function dollars(cost: number | undefined): string {
  if (cost === undefined) return "";
  if (cost === 0) return "$0";
  return cost < 0.01 ? `$${cost.toFixed(5)}` : `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}

/** A duration in ms, s or min; nothing if it is not known. */
export function duration(ms: number | undefined): string {
  return ms === undefined ? "" : shownDuration(ms);
}

/** A count with its noun: 1 run, 2 runs. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${whole(count)} ${count === 1 ? noun : plural}`;
}

/** An error in words, with its code if it has one, and how to pass a value that the context of the run lacks. */
export function errorWords(error: unknown): string {
  const message = messageOf(error);
  const [, key] = /The context has no "([^"]+)"/.exec(message) ?? [];
  const hint = key === undefined ? "" : ` Here: --context '{${JSON.stringify(key)}: …}'.`;
  return `${isOffstageError(error) ? `${error.code}: ` : ""}${message}${hint}`;
}

const statusMarks: Readonly<Record<string, readonly [mark: string, style: Style]>> = {
  completed: ["✓", "green"],
  ok: ["✓", "green"],
  failed: ["✗", "red"],
  error: ["✗", "red"],
  stopped: ["■", "yellow"],
  cancelled: ["■", "yellow"],
  rejected: ["■", "yellow"],
  waiting: ["◆", "magenta"],
  running: ["●", "cyan"],
  active: ["●", "cyan"],
  interrupted: ["↯", "yellow"],
};

/** The mark of a status, in one column. */
export function markOf(status: string | undefined): string {
  return statusMarks[status ?? ""]?.[0] ?? " ";
}

/** The colour of a status. */
export function styleOf(status: string | undefined): Style | undefined {
  return statusMarks[status ?? ""]?.[1];
}

const units: Readonly<Record<string, number>> = { s: second, m: minute, min: minute, h: hour, d: day, w: 7 * day };

/** The age in a text such as "30d" or "2h", in milliseconds; undefined for any other text. */
export function ageOf(text: string): number | undefined {
  const [, count = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*(s|min|m|h|d|w)$/.exec(text.trim()) ?? [];
  const length = units[unit];
  return length === undefined ? undefined : Number(count) * length;
}

/** A size in bytes, kB, MB or GB. */
export function fileSize(bytes: number): string {
  const unit = bytes < 1000 ? 0 : bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
  const scaled = bytes / 1000 ** unit;
  return `${unit === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${["bytes", "kB", "MB", "GB"][unit]}`;
}
