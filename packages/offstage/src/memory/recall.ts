// recall: a tool by which a model looks up its own earlier turns and tool results, which are kept but not shown.

import { isObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { filterMessages, type MessageCriteria } from "../query/filter.ts";
import { type Tool, type ToolRunOptions, tool } from "../tools/tool.ts";
import { type RecallBounds, recalledMessage, recalledText } from "./recall-text.ts";

/** Where to look: messages, a session (everything it exchanged), or a function that gives messages for a call. */
export type RecallSource =
  | Iterable<Message>
  | { transcript(): Promise<readonly Message[]> }
  | ((options: ToolRunOptions) => Iterable<Message> | Promise<Iterable<Message>>);

export interface RecallToolOptions {
  /** How many messages one call shows at most. Default 5. */
  readonly maxMessages?: number;
  /** How long an answer may be, in bytes. Default 8 KiB. */
  readonly maxBytes?: number;
}

/** What a model asks for. */
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
    message: { type: "string", description: "The id of one message, to read it on where it was cut off." },
    offset: { type: "integer", minimum: 0, description: "With message: the character to read on from." },
  },
  additionalProperties: false,
};

const description =
  "Looks up earlier messages and tool results that are no longer shown. Ask by words, tool name or run id; the latest matches are returned. Read a long one on by its message id and an offset.";

/** The built-in tool `recall` over a source. It reads only, and never finds its own calls. */
export function recallTool(source: RecallSource, options: RecallToolOptions = {}): Tool {
  const { maxMessages = 5, maxBytes = 8 * 1024 } = options;
  if (!isSource(source))
    throw new OffstageError(
      "invalid-argument",
      `recallTool() takes a session with transcript(), a list of messages or a function that gives one; found ${shownValue(source)}.`,
    );
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

/** What a question finds in a list: the latest messages that meet all of it, as text. */
export function answer(list: readonly Message[], question: RecallQuestion, bounds: RecallBounds): string {
  const { text, tool: toolName, run: runId, message: id, offset = 0 } = question;
  if (id !== undefined) {
    const found = list.find(({ metadata }) => metadata?.id === id);
    return found === undefined ? `There is no message "${id}".` : recalledMessage(found, offset, bounds);
  }
  const words = (text ?? "").split(/\s+/).filter((word) => word !== "");
  const asked: MessageCriteria = { ...(toolName && { toolName }), ...(runId && { runId }) };
  const found = filterMessages(list, [asked, ...words.map((content) => ({ content }))]);
  return recalledText(list, found, { ...bounds, words });
}

// What a tool of this name said is a copy of something older.
function isOwn(message: Message): boolean {
  if (message.role === "tool") return message.name === "recall";
  if (message.role !== "assistant") return false;
  const calls = message.tool_calls ?? [];
  return calls.length > 0 && calls.every((call) => call.function.name === "recall");
}

function isSource(source: unknown): boolean {
  if (typeof source === "function" || Array.isArray(source)) return true;
  return isObject(source) && (typeof source.transcript === "function" || Symbol.iterator in source);
}

async function read(source: RecallSource, options: ToolRunOptions): Promise<Iterable<Message>> {
  if (typeof source === "function") return source(options);
  return "transcript" in source ? source.transcript() : source;
}
