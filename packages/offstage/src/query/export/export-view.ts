// Export view: what a format sees of the messages it writes. Reads message by message, so that a format can stream.

import { anything, checkOptions, type OptionRule, wholeFrom, yesOrNo } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import type { Message, ToolMessage } from "../../messages/message.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { callsOf, linkOf, metadataOf, nameOfCall, nameOfResult, roleOf } from "../readers.ts";
import { tokensOf } from "../stats.ts";
import { toolPairs } from "../tool-pairs.ts";

export interface ExportOptions {
  /** The messages to export, such as a filtered part. Default: all of the query's. */
  readonly messages?: Iterable<Message>;
  /** Adds `_metadata` (index, token count, role, time) to each message of json and jsonl, a line to those of markdown. */
  readonly includeMetadata?: boolean;
  /** Blanks (or text) to indent json with. Default 2; 0 writes it on one line. */
  readonly indent?: number | string;
  /** Cuts longer content, by characters as a reader counts them, and marks the cut with "...". Default for csv: 500; `Infinity` cuts nothing. */
  readonly maxContentLength?: number;
  /** Takes secrets out: true for the usual ones, or a redactor of your own. Default false. */
  readonly redact?: boolean | Redactor;
}

/** What is computed for one exported message. */
export interface ExportMetadata {
  readonly index: number;
  readonly token_count: number;
  readonly role: string;
  /** The place in the whole list, where only a part of it is exported. */
  readonly original_index?: number;
}

/** Messages as a format reads them, by place. */
export interface ExportView {
  readonly length: number;
  readonly options: ExportOptions;
  /** The message to write: redacted where that is asked for. */
  message(place: number): Message;
  metadata(place: number): ExportMetadata;
  tokens(place: number): number;
  /** When the message was made, where it says so. */
  timestamp(place: number): string | null;
  /** The name of the tool that is called, or whose result this is; by call id where the result has no name. */
  toolNames(place: number): string[];
}

export interface ExportSource {
  /** The messages to write. */
  readonly list: readonly Message[];
  /** The whole list that they are a part of; the same list where all are written. */
  readonly whole: readonly Message[];
  readonly counter: TokenCounter;
}

const exportRules: Readonly<Record<keyof ExportOptions, OptionRule>> = {
  messages: anything,
  includeMetadata: yesOrNo,
  indent: {
    isFit: (value) => typeof value === "number" || typeof value === "string",
    words: "a number of blanks, or text",
  },
  maxContentLength: {
    isFit: (value) => value === Number.POSITIVE_INFINITY || wholeFrom(0).isFit(value),
    words: "a whole number from 0, or Infinity",
  },
  redact: {
    isFit: (value) => typeof value === "boolean" || typeof value === "function",
    words: "true, false or a redactor",
  },
};

/** The view of these messages under these options. */
export function exportView({ list, whole, counter }: ExportSource, options: ExportOptions): ExportView {
  checkOptions(options, exportRules, "export");
  const { redact = false } = options;
  const clean = redact === true ? redactor() : redact;
  const places = whole === list ? undefined : lazy(() => placesOf(whole));
  const names = lazy(() => namesByResult(whole));
  const given = (place: number): Message => list[place] as Message;
  const message = clean === false ? given : lastOf((place) => clean(given(place)));
  const tokens = (place: number): number => tokensOf(given(place), counter);
  return {
    length: list.length,
    options,
    message,
    tokens,
    metadata: (place) => ({
      index: place,
      token_count: tokens(place),
      role: roleOf(message(place)).trim().toLowerCase(),
      ...originalOf(places?.().get(given(place))),
    }),
    timestamp: (place) => {
      const { createdAt } = metadataOf(message(place));
      return typeof createdAt === "string" ? createdAt : null;
    },
    toolNames: (place) => {
      const found = toolNamesOf(given(place), names);
      return clean === false ? found : found.map((name) => clean(name));
    },
  };
}

// A format asks about one message several times in a row.
function lastOf<T>(make: (place: number) => T): (place: number) => T {
  let last: { readonly place: number; readonly value: T } | undefined;
  return (place) => {
    if (last?.place !== place) last = { place, value: make(place) };
    return last.value;
  };
}

function originalOf(place: number | undefined): { readonly original_index?: number } | undefined {
  return place === undefined ? undefined : { original_index: place };
}

function placesOf(whole: readonly Message[]): Map<Message, number> {
  const places = new Map<Message, number>();
  for (let i = whole.length - 1; i >= 0; i--) places.set(whole[i] as Message, i);
  return places;
}

function toolNamesOf(message: Message, names: () => ReadonlyMap<Message, string>): string[] {
  const role = roleOf(message);
  if (role === "assistant") return callsOf(message).map(nameOfCall);
  if (role !== "tool") return [];
  const name = nameOfResult(message) ?? names().get(message);
  return name === undefined ? [] : [name];
}

function namesByResult(whole: readonly Message[]): Map<Message, string> {
  const answered = toolPairs(whole).pairs.filter(({ resultIndex }) => resultIndex >= 0);
  return new Map(answered.map(({ resultIndex, toolName }) => [whole[resultIndex] as Message, toolName]));
}

/** The ids that a message carries for its calls, or of the call it answers. */
export function toolCallIdsOf(message: Message): string[] {
  const role = roleOf(message);
  if (role === "tool") return [linkOf(message as ToolMessage)];
  return role === "assistant" ? callsOf(message).map(linkOf) : [];
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The text cut to so many characters, "..." behind it where it was longer. Never cuts a character in two. */
export function cutText(text: string, maxLength: number | undefined): string {
  if (maxLength === undefined || text.length <= maxLength) return text;
  let end = 0;
  let count = 0;
  for (const character of text) {
    if (count === maxLength) return `${text.slice(0, end)}...`;
    count++;
    end += character.length;
  }
  return text;
}
