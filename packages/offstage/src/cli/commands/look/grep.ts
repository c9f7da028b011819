// offstage grep: text in everything that was said and done, newest first, printed as it is found.

import type { FoundMessage } from "../../../doors/sessions.ts";
import { type Message, textOf, toolCallsOf } from "../../../messages/message.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io } from "../../io.ts";
import { limitOption, readCount, readTime, sinceOption, untilOption } from "../../option-values.ts";
import { columnsOf, fit } from "../../output/columns.ts";
import { shortId, shortIds } from "../../output/short-ids.ts";
import { ago } from "../../output/words.ts";
import { findSession } from "../../store/find.ts";

const usualLimit = 50;

export const command: Command = defineCommand({
  options: {
    regex: { type: "boolean", short: "E", text: "the text is a regular expression" },
    role: { type: "string", text: "only messages of this role", choices: ["system", "user", "assistant", "tool"] },
    tool: { type: "string", value: "name", text: "only calls of this tool, and their results" },
    agent: { type: "string", value: "name", text: "only of this agent" },
    errors: { type: "boolean", text: "only failed tool results" },
    stream: { type: "string", text: "only what was said, or only what was done", choices: ["said", "done"] },
    session: { type: "string", value: "id", text: "only in this session" },
    since: sinceOption,
    until: untilOption,
    limit: { ...limitOption, text: `at most this many; default ${usualLimit}` },
    all: { type: "boolean", text: "all of them" },
  },
  examples: ["offstage grep refund", 'offstage grep "Error: 4\\d\\d" --regex --tool fetch --since 2d'],
  keys: ["sessionId", "title", "runId", "agent", "stream", "message"],
  async run({ positionals: [text = ""], values }, io) {
    const { regex = false, role, tool, agent, errors, stream, all = false } = values;
    const limit = all ? undefined : (readCount(values.limit, "limit") ?? usualLimit);
    const store = await io.openStore();
    const session = values.session === undefined ? undefined : (await findSession(store, values.session)).sessionId;
    const range = { since: readTime(values.since, "since"), until: readTime(values.until, "until") };
    const wanted = { role, toolName: tool, agent, session, stream: stream as "said" | "done" | undefined };
    const found = store.search({ text, regex, ...wanted, ...range, limit, ...(errors === true && { isError: true }) });
    let count = 0;
    for await (const hit of found) {
      if (io.world.signal.aborted) break;
      count++;
      if (io.isJson) io.record(asJson(hit));
      else for (const line of hitLines(io, hit, { text, isRegex: regex })) io.print(line);
    }
    if (count === 0) io.note(`Nothing found for "${text}".`);
    if (count === limit) io.note(`The first ${count}. --limit or --all shows more.`);
    return count === 0 ? 1 : 0;
  },
});

interface Wanted {
  readonly text: string;
  readonly isRegex: boolean;
}

function hitLines(io: Io, { session, message, run, stream }: FoundMessage, wanted: Wanted): string[] {
  const id = io.inline(shortIds([session.sessionId])(session.sessionId));
  const who =
    message.role === "tool"
      ? `tool ${message.name ?? ""}`
      : message.role === "assistant"
        ? (run?.agent ?? "assistant")
        : message.role;
  const when = ago(message.metadata?.createdAt ?? session.lastActivityAt);
  const facts = `${io.inline(who)} · ${stream} · ${when}${run === undefined ? "" : ` · run ${io.inline(shortId(run.runId))}`}`;
  const shownId = fit(id, 36);
  return [
    `${io.paint("cyan", shownId)} ${io.paint("dim", fit(facts, Math.max(0, io.width - columnsOf(shownId) - 1)))}`,
    `  ${excerpt(io, searchedText(message), wanted)}`,
  ];
}

function searchedText(message: Message): string {
  const text = textOf(message);
  if (text !== "") return text;
  return toolCallsOf(message)
    .map(({ function: { name, arguments: input } }) => `${name} ${input}`)
    .join("; ");
}

// One line around the first match, with the match in bold. Redacted before it is cut.
function excerpt(io: Io, whole: string, wanted: Wanted): string {
  const [from, to] = matchIn(whole, wanted);
  const room = io.width - 4;
  const start = Math.max(0, from - Math.max(0, Math.floor((room - (to - from)) / 2)));
  const before = io.inline(whole.slice(start, from), room);
  const match = io.inline(whole.slice(from, to), room);
  // A secret is redacted in its context, in which the match may not stand any more.
  const line = io.inline(whole.slice(start, from + room * 2), room * 2);
  const text = fit(start > 0 ? `…${line}` : line, room);
  const at = match === "" ? -1 : text.indexOf(match, Math.max(0, before.length - 2));
  if (at === -1) return text;
  return `${text.slice(0, at)}${io.paint(["bold", "red"], match)}${text.slice(at + match.length)}`;
}

function matchIn(whole: string, { text, isRegex }: Wanted): [from: number, to: number] {
  if (isRegex) return [0, 0];
  const at = whole.toLowerCase().indexOf(text.toLowerCase());
  return at === -1 ? [0, 0] : [at, at + text.length];
}

function asJson({ session, message, run, stream }: FoundMessage): object {
  const { sessionId, title } = session;
  return { sessionId, title: title ?? null, runId: run?.runId ?? null, agent: run?.agent ?? null, stream, message };
}
