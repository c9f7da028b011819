// Export view: the messages as a format reads them, one by one, so that a format can stream.
import { type OptionRule, wholeFrom, yesOrNo } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import type { Message, ToolMessage } from "../../messages/message.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { callsOf, linkOf, metadataOf, nameOfCall, nameOfResult, roleOf, textIn } from "../readers.ts";
import { type RunSummary, runsAmong } from "../run-summary.ts";
import { tokensOf } from "../stats.ts";
import { toolPairs } from "../tool-calls.ts";

export interface ExportOptions {
  /** The messages to export, such as a filtered part. Default: all messages of the query. */
  readonly messages?: Iterable<Message> | undefined;
  /** Adds `_metadata` (index, token count, role, time) to each message of json and jsonl, and a line to those of markdown. */
  readonly includeMetadata?: boolean | undefined;
  /** The number of blanks, or the text, to indent json with. Default 2; 0 writes one line. */
  readonly indent?: number | string | undefined;
  /** Cuts longer content, by code points, and marks the cut with "...". Default for csv: 500. `Infinity` cuts nothing. */
  readonly maxContentLength?: number | undefined;
  /** Takes secrets out: true for the usual ones, or a redactor of your own. Default false. */
  readonly redact?: boolean | Redactor | undefined;
}

/** The computed fields of one exported message. */
export interface ExportMetadata {
  readonly index: number;
  readonly token_count: number;
  readonly role: string;
  /** The index in the whole list, if only a part of it is exported. */
  readonly original_index?: number | undefined;
}

/** Messages as a format reads them, by index. */
export interface ExportView {
  readonly length: number;
  readonly options: ExportOptions;
  /** The message to write, redacted if the options say so. */
  message(index: number): Message;
  metadata(index: number): ExportMetadata;
  tokens(index: number): number;
  /** The time at which the message was made, if it says so. */
  timestamp(index: number): string | null;
  /** The names of the tools that are called, or of the tool whose result this is; found by call id if the result has no name. */
  toolNames(index: number): string[];
  /** The known runs of these messages, by id; all known runs if none has messages here. Redacted if the options say so. */
  readonly runs: ReadonlyMap<string, RunSummary>;
  /** The run of a message, for the structure of a report. It is never redacted, so it must not be written. */
  runPlace(index: number): RunPlace;
}

/** The run of a message, the run that called it, and the run of the subagent whose result the message is. */
export interface RunPlace {
  readonly runId?: string | undefined;
  readonly parentRunId?: string | undefined;
  readonly childRunId?: string | undefined;
}

export interface ExportSource {
  /** The messages to write. */
  readonly list: readonly Message[];
  /** The whole list that they are a part of. The same list if all are written. */
  readonly whole: readonly Message[];
  readonly counter: TokenCounter;
  /** The runs that are known. */
  readonly runs: readonly RunSummary[];
}

export const exportRules: Readonly<Record<keyof ExportOptions, OptionRule>> = {
  messages: {
    isFit: (value) => typeof value === "object" && value !== null && Symbol.iterator in value,
    words: "a list of messages",
  },
  includeMetadata: yesOrNo,
  indent: {
    isFit: (value) => typeof value === "number" || typeof value === "string",
    words: "a number of blanks, or text",
  },
  maxContentLength: {
    isFit: (value) => value === Number.POSITIVE_INFINITY || wholeFrom(0).isFit(value),
    words: "a whole number of at least 0, or Infinity",
  },
  redact: {
    isFit: (value) => typeof value === "boolean" || typeof value === "function",
    words: "true, false or a redactor",
  },
};

/** Makes the view of these messages under these options. */
export function exportView({ list, whole, counter, runs }: ExportSource, options: ExportOptions): ExportView {
  const { redact = false } = options;
  const clean = redact === true ? redactor() : redact;
  const indexes = whole === list ? undefined : lazy(() => indexesOf(whole));
  const names = lazy(() => namesByResult(whole));
  const given = (index: number): Message => list[index] as Message;
  const message = clean === false ? given : lastOf((index) => clean(given(index)));
  const tokens = (index: number): number => tokensOf(given(index), counter);
  const known = lazy(
    () => new Map(runsAmong(list, runs).map((run) => [run.runId, clean === false ? run : clean(run)])),
  );
  return {
    length: list.length,
    options,
    get runs() {
      return known();
    },
    runPlace: (index) => runPlaceOf(given(index)),
    message,
    tokens,
    metadata: (index) => ({
      index,
      token_count: tokens(index),
      role: roleOf(message(index)).trim().toLowerCase(),
      ...originalOf(indexes?.().get(given(index))),
    }),
    timestamp: (index) => {
      const { createdAt } = metadataOf(message(index));
      return typeof createdAt === "string" ? createdAt : null;
    },
    toolNames: (index) => {
      const found = toolNamesOf(given(index), names);
      return clean === false ? found : found.map((name) => clean(name));
    },
  };
}

function runPlaceOf(message: Message): RunPlace {
  const { runId, parentRunId, childRunId } = metadataOf(message);
  return {
    runId: textIn(runId),
    parentRunId: textIn(parentRunId),
    childRunId: textIn(childRunId),
  };
}

// Formats read one message several times in a row.
function lastOf<T>(make: (index: number) => T): (index: number) => T {
  let last: { readonly index: number; readonly value: T } | undefined;
  return (index) => {
    if (last?.index !== index) last = { index, value: make(index) };
    return last.value;
  };
}

function originalOf(index: number | undefined): { readonly original_index?: number } | undefined {
  return index === undefined ? undefined : { original_index: index };
}

function indexesOf(whole: readonly Message[]): Map<Message, number> {
  const indexes = new Map<Message, number>();
  for (let i = whole.length - 1; i >= 0; i--) indexes.set(whole[i] as Message, i);
  return indexes;
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

/** The ids of the calls of a message, or of the call that it answers. */
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

/** The text cut to `maxLength` code points, with "..." behind it if it was longer. */
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
