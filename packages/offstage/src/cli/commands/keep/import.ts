// offstage import: conversations from files, each as a session. Says what it found before it writes.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Store } from "../../../sessions/store.ts";
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";
import { confirm, yesOption } from "../../confirm.ts";
import type { Io } from "../../io.ts";
import { counted } from "../../output/words.ts";
import { NotFound } from "../../store/find.ts";
import { type FoundConversation, filesIn, readConversation } from "../../store/import-source.ts";

export const command: Command = defineCommand({
  options: { as: { type: "string", value: "id", text: "the id of the session, for one file" }, yes: yesOption },
  examples: [
    "offstage import ~/.claude",
    "offstage import ~/.codex/sessions --yes",
    "offstage import anna.jsonl --as anna",
  ],
  keys: ["file", "kind", "sessionId", "title", "messages", "status"],
  notes:
    "Reads session logs of Claude Code and Codex, json and jsonl exports, and messages of OpenAI, Anthropic, the AI SDK and LangChain. Links are not followed. A session that is there already is left as it is.",
  async run({ positionals: [path = ""], values: { as, yes } }, io) {
    const place = resolve(io.world.cwd, path.replace(/^~(?=\/|$)/, homedir()));
    if (!existsSync(place)) throw new NotFound(`There is no file or folder "${path}".`);
    const files = filesIn(place);
    const { found, skipped } = await readAll(io, files);
    if (found.length === 0) throw new NotFound(`No conversation found in "${path}": ${reasonOf(files, skipped)}.`);
    if (as !== undefined && found.length > 1)
      throw new UsageError(`--as names one session, and "${path}" has ${found.length}.`);
    const conversations = as === undefined ? found : found.map((each) => ({ ...each, sessionId: as }));
    tellFound(io, conversations, skipped);
    if (!(await confirm(io, `Import ${counted(found.length, "conversation")}?`, yes))) {
      if (io.isJson) for (const each of conversations) io.record(asJson(each, "found"));
      return 0;
    }
    return write(io, await io.openStore({ writes: true, creates: true }), conversations);
  },
});

interface Read {
  readonly found: FoundConversation[];
  readonly skipped: { readonly file: string; readonly why: string }[];
}

async function readAll(io: Io, files: readonly string[]): Promise<Read> {
  const read: Read = { found: [], skipped: [] };
  for (const [index, file] of files.entries()) {
    if (index % 20 === 0) io.progress(`Reading ${index} of ${counted(files.length, "file")} …`);
    const result = readConversation(file);
    if (typeof result === "string") read.skipped.push({ file, why: result });
    else read.found.push(result);
  }
  io.progress(undefined);
  return read;
}

function reasonOf(files: readonly string[], skipped: Read["skipped"]): string {
  const [first] = skipped;
  if (files.length === 0) return "it has no .json or .jsonl files";
  return files.length === 1 && first !== undefined
    ? `it ${first.why}`
    : `none of its ${counted(files.length, "file")} is one`;
}

// On standard error, so that --json stays clean.
function tellFound(io: Io, found: readonly FoundConversation[], skipped: Read["skipped"]): void {
  for (const [kind, own] of Map.groupBy(found, (each) => each.kind)) {
    const messages = own.reduce((sum, each) => sum + each.messages.length, 0);
    io.note(
      `${counted(own.length, "conversation")} of ${kind === "messages" ? "other formats" : kind}, with ${counted(messages, "message")}.`,
    );
  }
  const broken = found.reduce((sum, { brokenLines }) => sum + brokenLines, 0);
  if (broken > 0) io.note(`${counted(broken, "line")} could not be read.`);
  if (skipped.length > 0) io.note(`${counted(skipped.length, "other file")} without a conversation.`);
}

async function write(io: Io, store: Store, found: readonly FoundConversation[]): Promise<0 | 1> {
  const counts = { imported: 0, "already there": 0 };
  for (const [index, each] of found.entries()) {
    io.progress(`Importing ${index + 1} of ${found.length} …`);
    const session = store.session(each.sessionId);
    const status = (await session.getItemCount()) > 0 ? "already there" : "imported";
    if (status === "imported") {
      await session.addItems(each.messages);
      await session.describe({ metadata: each.metadata, ...(each.title ? { title: each.title } : {}) });
    }
    counts[status]++;
    if (io.isJson) io.record(asJson(each, status));
  }
  io.progress(undefined);
  const there =
    counts["already there"] === 0 ? "" : ` ${counted(counts["already there"], "session")} had been there before.`;
  if (!io.isJson) io.print(`Imported ${counted(counts.imported, "conversation")}.${there}`);
  return 0;
}

function asJson({ file, kind, sessionId, title, messages }: FoundConversation, status: string): object {
  return { file, kind, sessionId, title: title ?? null, messages: messages.length, status };
}
