// Conversations in files: exports, session logs of Claude Code and Codex, and every format that MessageQuery.from reads.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isObject, type JsonObject, parseJson } from "../../base/json.ts";
import { type Message, textOf } from "../../messages/message.ts";
import { MessageQuery } from "../../query/message-query.ts";

/** A conversation that was found in a file. */
export interface FoundConversation {
  readonly file: string;
  readonly kind: string;
  readonly sessionId: string;
  readonly title: string | undefined;
  readonly metadata: JsonObject;
  readonly messages: readonly Message[];
  /** Lines that are no JSON: a log that is being written ends in half a line. */
  readonly brokenLines: number;
}

const mostBytes = 512 * 1024 * 1024;
const endings = /\.(jsonl?|ndjson)$/i;

/** The files of a folder that may hold conversations, in order. Links are not followed. */
export function filesIn(path: string): string[] {
  const found = lstatSync(path);
  if (found.isFile()) return [path];
  if (!found.isDirectory()) return [];
  return readdirSync(path, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesIn(inner);
      return entry.isFile() && endings.test(entry.name) ? [inner] : [];
    });
}

/** The conversation in a file; a sentence that says why there is none. */
export function readConversation(file: string): FoundConversation | string {
  if (lstatSync(file).size > mostBytes) return "is larger than 512 MB";
  const { items, brokenLines } = parseFile(readFileSync(file, "utf8"));
  if (items.length === 0) return "has no JSON";
  const kind = kindOf(items);
  try {
    const messages = MessageQuery.from(kind === "messages" && items.length === 1 ? items[0] : items).all();
    if (messages.length === 0) return "has no messages";
    return { file, kind, messages, brokenLines, ...aboutOf(kind, items, { file, messages }) };
  } catch (error) {
    return `is not a conversation: ${(error as Error).message.replace(/\.$/, "")}`;
  }
}

function parseFile(text: string): { items: readonly unknown[]; brokenLines: number } {
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  const whole = parseJson(body);
  if (whole !== undefined) return { items: Array.isArray(whole) ? whole : [whole], brokenLines: 0 };
  const lines = body.split("\n").filter((line) => line.trim() !== "");
  const items = lines.map((line): unknown => parseJson(line));
  const read = items.filter((item) => item !== undefined);
  return { items: read, brokenLines: items.length - read.length };
}

function kindOf(items: readonly unknown[]): string {
  if (items.some((item) => isObject(item) && item.type === "session_meta" && isObject(item.payload))) return "Codex";
  const isClaude = items.some((item) => isObject(item) && isObject(item.message) && typeof item.sessionId === "string");
  return isClaude ? "Claude Code" : "messages";
}

interface About {
  readonly file: string;
  readonly messages: readonly Message[];
}

function aboutOf(
  kind: string,
  items: readonly unknown[],
  { file, messages }: About,
): Pick<FoundConversation, "sessionId" | "title" | "metadata"> {
  const fields = items.filter(isObject);
  const name = basename(file).replace(endings, "");
  const first = messages.find(({ role }) => role === "user");
  const words = first && textOf(first).replace(/\s+/g, " ").trim().slice(0, 80);
  const metadata = (cwd: unknown): JsonObject => ({
    importedFrom: kind,
    file,
    ...(typeof cwd === "string" && { cwd }),
  });
  if (kind === "Codex") {
    const meta = fields.find(({ type }) => type === "session_meta")?.payload;
    const { id, cwd } = isObject(meta) ? meta : { id: undefined, cwd: undefined };
    return { sessionId: typeof id === "string" ? id : name, title: words, metadata: metadata(cwd) };
  }
  if (kind === "Claude Code") {
    const summary = fields.find(({ type }) => type === "summary")?.summary;
    const cwd = fields.find((each) => typeof each.cwd === "string")?.cwd;
    // A session's log is named after it. The logs of its subagents are not, and have its id in every line.
    return { sessionId: name, title: typeof summary === "string" ? summary : words, metadata: metadata(cwd) };
  }
  return { sessionId: name, title: words, metadata: metadata(undefined) };
}
