// recall: a tool with which a model looks up its own earlier turns and tool results, which are stored but no longer shown.
import { isObject } from "../base/json.ts";
import { checkOptions, checkRequired, wholeFrom } from "../base/options.ts";
import { type Message, toolCallsOf } from "../messages/message.ts";
import { filterMessages, type MessageCriteria } from "../query/filter.ts";
import { clip, utf8Prefix } from "../tools/json-safe.ts";
import { type Tool, type ToolRunOptions, tool } from "../tools/tool.ts";
import { messageText } from "./context-text.ts";

/** The source to search: messages, a session with all its messages, or a function that returns messages for a call. */
export type RecallSource =
  | Iterable<Message>
  | { transcript(): Promise<readonly Message[]> }
  | ((options: ToolRunOptions) => Iterable<Message> | Promise<Iterable<Message>>);

export interface RecallToolOptions {
  /** The most messages in one result. Default 5. */
  readonly maxMessages?: number | undefined;
  /** The most bytes of one result. Default 8 KiB. */
  readonly maxBytes?: number | undefined;
}

interface RecallQuestion {
  readonly text?: string;
  readonly tool?: string;
  readonly run?: string;
  readonly message?: string;
  readonly offset?: number;
}

const input = {
  type: "object",
  properties: {
    text: { type: "string", description: "Words that must all occur in the message." },
    tool: { type: "string", description: "The name of the tool whose calls and results to look for." },
    run: { type: "string", description: "The id of the run to look in." },
    message: { type: "string", description: "The id of one message, to read on where it was cut off." },
    offset: { type: "integer", minimum: 0, description: "With message: the character to read on from." },
  },
  additionalProperties: false,
};

const description =
  "Looks up earlier messages and tool results that are no longer shown. Search by words, tool name or run id; returns the latest matches. To read more of a long message, pass its message id and an offset.";

/** Makes the tool `recall` for a source. It only reads, and never finds its own calls. */
export function recallTool(source: RecallSource, options: RecallToolOptions = {}): Tool {
  const words = "a session with transcript(), a list of messages or a function that returns one";
  checkRequired("source", source, { isFit: isSource, words });
  checkOptions(options, { maxMessages: wholeFrom(1), maxBytes: wholeFrom(1) }, "recallTool()");
  const { maxMessages = 5, maxBytes = 8 * 1024 } = options;
  return tool({
    name: "recall",
    description,
    input,
    idempotent: true,
    remember: "none",
    maxResultBytes: maxBytes,
    execute: async (question: RecallQuestion, run) => {
      const list = [...(await read(source, run as ToolRunOptions))].filter((message) => !isOwn(message));
      return answer(list, question, { maxMessages, maxBytes });
    },
  });
}

function isSource(source: unknown): boolean {
  if (typeof source === "function" || Array.isArray(source)) return true;
  return isObject(source) && (typeof source.transcript === "function" || Symbol.iterator in source);
}

async function read(source: RecallSource, options: ToolRunOptions): Promise<Iterable<Message>> {
  if (typeof source === "function") return source(options);
  return "transcript" in source ? source.transcript() : source;
}

// A call of recall and its result are copies of older messages.
function isOwn(message: Message): boolean {
  if (message.role === "tool") return message.name === "recall";
  const calls = toolCallsOf(message);
  return calls.length > 0 && calls.every((call) => call.function.name === "recall");
}

interface RecallBounds {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

function answer(list: readonly Message[], question: RecallQuestion, bounds: RecallBounds): string {
  const { text, tool: toolName, run: runId, message: id, offset = 0 } = question;
  if (id !== undefined) {
    const found = list.find(({ metadata }) => metadata?.id === id);
    return found === undefined ? `There is no message "${id}".` : pageOf(found, offset, bounds);
  }
  const words = (text ?? "").split(/\s+/).filter((word) => word !== "");
  const asked: MessageCriteria = { ...(toolName && { toolName }), ...(runId && { runId }) };
  const found = filterMessages(list, [asked, ...words.map((content) => ({ content }))]);
  return matchesOf(list, found, { ...bounds, word: words[0] ?? "" });
}

interface MatchesOptions extends RecallBounds {
  /** The first word of the search. A long message is shown around it. */
  readonly word: string;
}

/** The latest matches as text, oldest first. */
function matchesOf(list: readonly Message[], found: readonly Message[], options: MatchesOptions): string {
  const { maxMessages, maxBytes, word } = options;
  if (found.length === 0) return `Nothing was found among ${list.length} messages. Try fewer or other words.`;
  const shown = found.slice(-maxMessages);
  const share = Math.max(64, Math.floor((maxBytes - 128) / shown.length) - 128);
  const older = found.length > shown.length ? [`The latest ${shown.length} of ${found.length} matches:`] : [];
  const entries = shown.map((message) => `${placeOf(message, list)}\n${excerpt(message, { word, share })}`);
  return clip([...older, ...entries].join("\n\n"), maxBytes).text;
}

/** One message as text, from a character on. */
function pageOf(message: Message, offset: number, { maxBytes }: RecallBounds): string {
  const rest = messageText(message).slice(offset);
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

function excerpt(message: Message, { word, share }: { readonly word: string; readonly share: number }): string {
  const text = messageText(message);
  if (Buffer.byteLength(text) <= share) return text;
  const at = Math.max(0, text.toLowerCase().indexOf(word.toLowerCase()));
  const start = at < share / 2 ? 0 : at - Math.floor(share / 4);
  const shown = utf8Prefix(text.slice(start), share);
  const left = text.length - start - shown.length;
  const before = start === 0 ? "" : `[${start} characters before] `;
  return `${before}${shown}${left > 0 ? ` [${left} more characters: read on with offset ${start + shown.length}]` : ""}`;
}
