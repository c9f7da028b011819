// What recall answers: a few messages as text, each with where it comes from, all within a bound that is said when it bites.
import { type Message, toolCallsOf } from "../messages/message.ts";
import { clip, utf8Prefix } from "../tools/clip.ts";
import { messageText } from "./context-text.ts";

export interface RecallBounds {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

export interface RecalledTextOptions extends RecallBounds {
  /** What was looked for; a long message is shown around the first of it. */
  readonly words: readonly string[];
}

/** The latest of what was found, oldest first. */
export function recalledText(
  list: readonly Message[],
  found: readonly Message[],
  options: RecalledTextOptions,
): string {
  const { maxMessages, maxBytes, words } = options;
  if (found.length === 0) return `Nothing was found among ${list.length} messages. Try fewer or other words.`;
  const shown = found.slice(-maxMessages);
  const share = Math.max(64, Math.floor((maxBytes - 128) / shown.length) - 128);
  const older = found.length > shown.length ? [`The latest ${shown.length} of ${found.length} matches:`] : [];
  const entries = shown.map((message) => `${placeOf(message, list)}\n${excerpt(message, { words, share })}`);
  return clip([...older, ...entries].join("\n\n"), maxBytes).text;
}

/** One message from a character on. */
export function recalledMessage(message: Message, offset: number, { maxBytes }: RecallBounds): string {
  const text = messageText(message);
  const rest = text.slice(offset);
  const shown = utf8Prefix(rest, Math.max(64, maxBytes - 128));
  const left = rest.length - shown.length;
  return left <= 0 ? shown : `${shown}\n[${left} more characters: read on with offset ${offset + shown.length}]`;
}

function placeOf(message: Message, list: readonly Message[]): string {
  const { id, runId, step, createdAt } = message.metadata ?? {};
  const call = message.role === "tool" ? callOf(message.tool_call_id, list) : undefined;
  const parts = [
    ...(id === undefined ? [] : [`message ${id}`]),
    ...(runId === undefined ? [] : [`run ${runId}`]),
    ...(step === undefined ? [] : [`step ${step}`]),
    ...(createdAt === undefined ? [] : [createdAt]),
    ...(call === undefined ? [] : [`answers ${call}`]),
  ];
  return `[${parts.join(", ") || "message"}]`;
}

function callOf(id: string, list: readonly Message[]): string | undefined {
  const call = list.flatMap(toolCallsOf).findLast((each) => each.id === id);
  return call && `${call.function.name} ${call.function.arguments.slice(0, 200)}`;
}

interface ExcerptOptions {
  readonly words: readonly string[];
  readonly share: number;
}

function excerpt(message: Message, { words, share }: ExcerptOptions): string {
  const text = messageText(message);
  if (Buffer.byteLength(text) <= share) return text;
  const at = Math.max(0, text.toLowerCase().indexOf((words[0] ?? "").toLowerCase()));
  const start = at < share / 2 ? 0 : at - Math.floor(share / 4);
  const shown = utf8Prefix(text.slice(start), share);
  const left = text.length - start - shown.length;
  const before = start === 0 ? "" : `[${start} characters before] `;
  return `${before}${shown}${left > 0 ? ` [${left} more characters: read on with offset ${start + shown.length}]` : ""}`;
}
