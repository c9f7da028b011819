// The tools that read the record: they never write, and never leave the namespace of the caller.
import { OffstageError } from "../../errors.ts";
import { type Message, textOf, toolCallsOf } from "../../messages/message.ts";
import type { MessageQuery } from "../../query/message-query.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import type { SessionInfo } from "../../sessions/records/session-list.ts";
import { clip } from "../../tools/json-safe.ts";
import { type PageItem, pageOf } from "./pages.ts";
import type { CallSite, Served, ServedTool } from "./served-tool.ts";

type Input = Readonly<Record<string, unknown>>;

const text = (description: string): object => ({ type: "string", description });
const cursor = text("Where the last result ended: its cursor.");
const hints = { readOnlyHint: true, openWorldHint: false };

function readTool(
  name: string,
  about: { description: string; properties: Record<string, object>; required?: string[] },
  serve: (input: Input, site: CallSite) => Promise<Served>,
): ServedTool {
  const { description, properties, required = [] } = about;
  const input = { type: "object", properties: { ...properties, cursor }, required, additionalProperties: false };
  return { name, description, input, hints, serve };
}

/** search_sessions, show_session, show_run and tool_calls. */
export const readTools: readonly ServedTool[] = [
  readTool(
    "search_sessions",
    {
      description:
        "Finds conversations, most recently active first. With text, role or tool: the messages that match. Results have session and run ids for the other tools.",
      properties: {
        text: text("Text that a message contains, in any case."),
        role: { type: "string", enum: ["user", "assistant", "tool", "system"] },
        tool: text("Only calls of this tool, and their results."),
        agent: text("Only conversations or messages of this agent."),
        since: text("An ISO time: not earlier."),
        until: text("An ISO time: not later."),
        limit: { type: "integer", minimum: 1, maximum: 100, description: "Default 20." },
      },
    },
    searchSessions,
  ),
  readTool(
    "show_session",
    {
      description: "Shows a conversation: what was said, or with trace also what was done to say it.",
      properties: {
        session: text("The id of the session."),
        trace: { type: "boolean", description: "Shows tool calls and results too. Default false." },
      },
      required: ["session"],
    },
    showSession,
  ),
  readTool(
    "show_run",
    {
      description:
        "Shows a run: how it ended, its tokens and cost, its subagents, what waits, and every message of its steps.",
      properties: { run: text("The id of the run.") },
      required: ["run"],
    },
    showRun,
  ),
  readTool(
    "tool_calls",
    {
      description:
        "Lists tool calls with input, result and duration: of a run, of a session, or of all, newest sessions first.",
      properties: {
        run: text("Only calls of this run and its subagents."),
        session: text("Only calls of this session."),
        tool: text("Only calls of this tool."),
        failed: { type: "boolean", description: "Only calls that failed." },
      },
    },
    toolCalls,
  ),
];

async function searchSessions(input: Input, site: CallSite): Promise<Served> {
  const { text: wanted, role, tool, agent, since, until, limit = 20, cursor: before } = input as Record<string, never>;
  const isOfMessages = wanted !== undefined || role !== undefined || tool !== undefined;
  const found = { agent, since, until, limit, before };
  const items: PageItem[] = [];
  let next: string | undefined;
  if (isOfMessages) {
    const { session } = site.access;
    const hits = site.store.search({ ...found, text: wanted, role, toolName: tool, session });
    for await (const { session: info, message, run, stream, cursor: at } of hits) {
      items.push({ ...placeOf(info), run: run?.runId, stream, ...itemOf(message) });
      next = at;
    }
  } else {
    for (const info of await sessionsOf(site, found)) {
      const { messageCount, runCount, lastAgent, lastStatus, lastActivityAt, createdAt } = info;
      const numbers = { messageCount, runCount, lastAgent, lastStatus, lastActivityAt, createdAt };
      items.push({ ...placeOf(info), ...numbers, text: "" });
      next = info.cursor;
    }
  }
  // Each item is short, and a full page leads to the next one.
  const maxItemBytes = Math.floor(site.maxBytes / (items.length + 1));
  const shown = items.map(({ text: long, ...rest }) =>
    site.redact({ ...rest, ...(long !== "" && { text: clip(long, Math.min(1000, maxItemBytes)).text }) }),
  );
  return textOfJson({ found: shown, ...(items.length === limit && { cursor: next }) });
}

async function sessionsOf({ store, access }: CallSite, options: object): Promise<SessionInfo[]> {
  if (access.session === undefined) return store.sessions.list(options);
  const info = await store.sessions.get(access.session);
  return info === undefined ? [] : [info];
}

async function showSession(input: Input, site: CallSite): Promise<Served> {
  const { session: id, trace = false, cursor: at } = input as { session: string; trace?: boolean; cursor?: string };
  const info = await readableSession(site, id);
  const session = site.store.session(id);
  const messages = trace ? (await session.query()).all() : await session.getAllItems();
  return toPage(site, { ...placeOf(info), messageCount: info.messageCount }, { messages: messages.map(itemOf), at });
}

async function showRun(input: Input, site: CallSite): Promise<Served> {
  const { run: id, cursor: at } = input as { run: string; cursor?: string };
  const run = await readableRun(site, id);
  const { runId, sessionId, agent, model, status, reason, startedAt, endedAt, durationMs, usage, cost, error } = run;
  const about = {
    run: runId,
    session: sessionId,
    agent,
    model,
    status,
    reason,
    startedAt,
    endedAt,
    durationMs,
    usage,
    cost,
  };
  const subagents = run.children
    .slice(0, 50)
    .map((each) => ({ run: each.runId, agent: each.agent, status: each.status }));
  const waiting = run.approvals.slice(0, 20).map(({ toolName, input: asked }) => ({
    tool: toolName,
    input: shortJson(asked),
  }));
  const failed = error && { code: error.code, message: clip(error.message, 2000).text };
  const more = { error: failed, subagents, waiting };
  return toPage(site, { ...about, ...more }, { messages: messagesOf(run).map(itemOf), at });
}

async function toolCalls(input: Input, site: CallSite): Promise<Served> {
  const { run, session, tool, failed, cursor: at } = input as CallFilter & { failed?: boolean; cursor?: string };
  const query = await queryOf(site, { run, session, tool });
  const calls = query
    .toolSummary()
    .flatMap((info) => [...info.calls, ...info.orphans])
    .filter(
      ({ toolName, status }) => (tool === undefined || toolName === tool) && (failed !== true || status === "error"),
    );
  const messages = calls.map(
    ({ toolName, toolCallId, runId, agent, inputText = "", resultText, isError, durationMs }) => ({
      tool: toolName,
      call: toolCallId,
      run: runId,
      agent,
      ...(isError && { isError }),
      ...(resultText === undefined && { isOpen: true }),
      durationMs,
      input: clip(inputText, 4000).text,
      text: resultText ?? "",
    }),
  );
  return toPage(site, { count: calls.length }, { messages, at });
}

interface CallFilter {
  readonly run?: string | undefined;
  readonly session?: string | undefined;
  readonly tool?: string | undefined;
}

async function queryOf(site: CallSite, { run, session, tool }: CallFilter): Promise<MessageQuery> {
  if (run !== undefined) {
    const { runId } = await readableRun(site, run);
    return site.store.query({ runId });
  }
  const id = session ?? site.access.session;
  if (id === undefined) return site.store.query({ stream: "done", toolName: tool, limit: 1000 });
  await readableSession(site, id);
  return site.store.session(id).query();
}

// A session that the caller may not read does not exist.
async function readableSession({ store, access }: CallSite, id: string): Promise<SessionInfo> {
  const info = access.session === undefined || access.session === id ? await store.sessions.get(id) : undefined;
  if (info === undefined) throw new OffstageError("invalid-argument", `There is no session "${clip(id, 200).text}".`);
  return info;
}

async function readableRun({ store, access }: CallSite, id: string): Promise<FoundRun> {
  const run = await store.runs.get(id);
  if (run === undefined || (access.session !== undefined && run.sessionId !== access.session))
    throw new OffstageError("run-not-found", `There is no run "${clip(id, 200).text}".`);
  return run;
}

function messagesOf({ input, steps, openStep }: FoundRun): Message[] {
  const open = openStep === undefined ? [] : [openStep.message, ...openStep.results];
  return [...input, ...steps.flatMap(({ messages }) => messages), ...open];
}

function placeOf({ sessionId, title }: SessionInfo): { session: string; title: string | undefined } {
  return { session: sessionId, title: title === undefined ? undefined : clip(title, 300).text };
}

function itemOf(message: Message): PageItem {
  const { createdAt, runId, agent, isError, interrupted } = message.metadata ?? {};
  const calls = toolCallsOf(message).slice(0, 100);
  return {
    role: message.role,
    ...(message.name !== undefined && { name: message.name }),
    at: createdAt,
    run: runId,
    agent,
    ...(isError === true && { isError }),
    ...(interrupted === true && { interrupted }),
    ...(calls.length > 0 && {
      calls: calls.map(({ id, function: { name, arguments: given } }) => ({
        call: id,
        tool: name,
        input: clip(given, 500).text,
      })),
    }),
    text: textOf(message) + filesIn(message),
  };
}

// A file is named, not shown.
function filesIn({ content }: Message): string {
  if (!Array.isArray(content)) return "";
  const kinds = content.flatMap(({ type }) => (type === "text" || type === "refusal" ? [] : [`[${type}]`]));
  return kinds.join(" ");
}

function shortJson(value: unknown): string {
  return clip(JSON.stringify(value) ?? "", 2000).text;
}

interface Messages {
  readonly messages: readonly PageItem[];
  readonly at: string | undefined;
}

// Redacted before it is cut: a cut could hide the form of a secret.
function toPage(site: CallSite, about: Record<string, unknown>, { messages, at }: Messages): Served {
  const head = site.redact(about);
  const room = site.maxBytes - Buffer.byteLength(JSON.stringify(head)) - 100;
  const { items, cursor: next } = pageOf(site.redact(messages) as PageItem[], at, Math.max(room, 4096));
  return textOfJson({ ...head, messages: items, ...(next !== undefined && { cursor: next }) });
}

function textOfJson(value: unknown): Served {
  return { text: JSON.stringify(value) };
}
