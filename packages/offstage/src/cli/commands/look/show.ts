// offstage show: a conversation as it was said, and under each answer one quiet line about what was done.

import type { SessionInfo } from "../../../doors/sessions.ts";
import { type Message, textOf } from "../../../messages/message.ts";
import type { RunSummary } from "../../../query/run-summary.ts";
import type { SubagentTurn, Turn, TurnItem } from "../../../query/turn.ts";
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io } from "../../io.ts";
import { readCount } from "../../option-values.ts";
import { dotted, headingLine, textLines } from "../../output/blocks.ts";
import { callLines, statusOfCall } from "../../output/calls.ts";
import { shortIds } from "../../output/short-ids.ts";
import { clock, counted, dollars, duration, short, styleOf } from "../../output/words.ts";
import { findSession, NotFound } from "../../store/find.ts";

export const command: Command = defineCommand({
  options: {
    trace: { type: "boolean", short: "t", text: "with what was done: drafts, tools, subagents, errors" },
    turn: { type: "string", value: "n", text: "only this turn, from 1, or last" },
  },
  examples: ["offstage show last", "offstage show anna --trace --turn 3"],
  keys: ["sessionId", "turn", "stream", "message"],
  async run({ positionals: [wanted = "last"], values: { trace = false, turn } }, io) {
    const store = await io.openStore();
    const session = await findSession(store, wanted);
    const opened = store.session(session.sessionId);
    const said = await opened.getItems();
    const query = await opened.query();
    const turns = trace ? query.timeline() : saidTurns(said);
    const chosen = turn === undefined ? turns.map((_, index) => index) : [indexOf(turn, turns.length)];
    if (turns.length === 0) throw new NotFound(`The session "${session.sessionId}" has no messages.`);
    if (io.isJson) {
      const saidIds = new Set(said.flatMap(({ metadata }) => metadata?.id ?? []));
      const listOf = (index: number): readonly Message[] =>
        trace ? query.slice((turns[index] as Turn).start, (turns[index] as Turn).end) : (turns[index] as Message[]);
      for (const index of chosen)
        for (const message of listOf(index)) {
          const isSaid = !trace || (message.metadata?.id !== undefined && saidIds.has(message.metadata.id));
          io.record({ sessionId: session.sessionId, turn: index + 1, stream: isSaid ? "said" : "done", message });
        }
      return 0;
    }
    const runs = new Map(query.runs().map((run) => [run.runId, run]));
    const nameOf = shortIds([...runs.keys()]);
    for (const line of titleLines(io, session, [...runs.values()])) io.print(line);
    for (const index of chosen) {
      const lines = trace
        ? traceTurn(io, turns[index] as Turn, { number: index + 1, runs, nameOf })
        : saidTurn(io, turns[index] as Message[], { number: index + 1, runs, nameOf });
      for (const line of lines) io.print(line);
    }
    return 0;
  },
});

// A turn begins with a user message. What a user says while a run works belongs to the turn of that run.
function saidTurns(said: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  let last: string | undefined;
  for (const message of said) {
    const { runId } = message.metadata ?? {};
    const isJoined = runId !== undefined && runId === last;
    if (turns.length === 0 || (message.role === "user" && !isJoined)) turns.push([message]);
    else turns.at(-1)?.push(message);
    last = runId;
  }
  return turns;
}

function indexOf(text: string, count: number): number {
  const number = text === "last" ? count : (readCount(text, "turn") ?? 0);
  if (number >= 1 && number <= count) return number - 1;
  throw new UsageError(`There is no turn ${text}: the session has ${counted(count, "turn")}.`);
}

function titleLines(io: Io, session: SessionInfo, runs: readonly RunSummary[]): string[] {
  const outer = runs.filter(({ parentRunId }) => parentRunId === undefined);
  const tokens = outer.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0);
  const cost = outer.reduce((sum, run) => sum + (run.cost ?? 0), 0);
  const { branchedFrom } = session;
  return [
    io.paint("bold", io.inline(session.title ?? session.sessionId, io.width).slice(0, io.width)),
    dotted(
      io,
      [
        io.inline(session.sessionId),
        counted(session.messageCount, "message"),
        counted(session.runCount, "run"),
        tokens === 0 ? "" : `${short(tokens)} tokens`,
        cost === 0 ? "" : dollars(cost),
        branchedFrom === undefined ? "" : `branched from ${io.inline(branchedFrom.sessionId)}`,
      ],
      "",
    ),
  ];
}

interface TurnPlace {
  readonly number: number;
  readonly runs: ReadonlyMap<string, RunSummary>;
  readonly nameOf: (id: string) => string;
}

function saidTurn(io: Io, messages: readonly Message[], place: TurnPlace): string[] {
  const runIds = [...new Set(messages.flatMap(({ metadata }) => metadata?.runId ?? []))];
  const lines = messages.flatMap((message) => ["", ...messageLines(io, message, place.number)]);
  return [...lines, ...runIds.flatMap((runId) => strip(io, place.runs.get(runId), place))];
}

function messageLines(io: Io, message: Message, number: number): string[] {
  const { agent, createdAt, interrupted } = message.metadata ?? {};
  const isUser = message.role === "user";
  const who = isUser
    ? `you  ${number}`
    : message.role === "assistant"
      ? io.inline(String(agent ?? "assistant"))
      : message.role;
  const note = clock(typeof createdAt === "string" ? createdAt : undefined);
  const cut = interrupted === true ? [io.paint("yellow", "  (cut off)")] : [];
  const bar = isUser ? "blue" : message.role === "assistant" ? "green" : "magenta";
  return [headingLine(io, { bar, title: who, note }), ...textLines(io, textOf(message)), ...cut];
}

// The quiet line: how much was done to say it.
function strip(io: Io, run: RunSummary | undefined, { nameOf }: TurnPlace): string[] {
  if (run === undefined) return [];
  const { status, reason, error, steps, durationMs, usage, cost } = run;
  const parts = [
    `run ${io.inline(nameOf(run.runId))}`,
    steps === undefined ? "" : counted(steps, "step"),
    duration(durationMs),
    usage === undefined ? "" : `${short(usage.totalTokens)} tokens`,
    dollars(cost),
    ...(run.annotations ?? []).map(({ label }) => io.inline(label)),
  ];
  const bad =
    status === "completed"
      ? []
      : [io.paint(styleOf(status) ?? "dim", `  ${status}: ${io.inline(error?.message ?? reason ?? "", io.width)}`)];
  return [...bad, dotted(io, parts)];
}

function traceTurn(io: Io, turn: Turn, place: TurnPlace): string[] {
  const run = turn.runId === undefined ? undefined : place.runs.get(turn.runId);
  return [
    ...turn.items.flatMap((item) => itemLines(io, item, { ...place, agent: run?.agent, indent: "" })),
    ...strip(io, run, place),
  ];
}

interface ItemPlace extends TurnPlace {
  readonly agent: string | undefined;
  readonly indent: string;
}

function itemLines(io: Io, item: TurnItem, place: ItemPlace): string[] {
  const { indent, number } = place;
  const narrowed: Io = { ...io, width: Math.max(20, io.width - indent.length) };
  const shifted = (lines: readonly string[]): string[] => lines.map((line) => (line === "" ? "" : `${indent}${line}`));
  if (item.type === "subagent") return subagentLines(io, item.subagent, place);
  if (item.type === "tool") {
    const { toolName, inputText = "", resultText } = item.call;
    const status = statusOfCall(item.call, place.runs);
    const [call = "", ...result] = shifted(callLines(narrowed, { toolName, inputText, resultText, status }, "  "));
    return [call, ...(item.subagents ?? []).flatMap((child) => subagentLines(io, child, place)), ...result];
  }
  const isUser = item.type === "user";
  const title =
    isUser && indent === ""
      ? `you  ${number}`
      : item.type === "text"
        ? io.inline(place.agent ?? "assistant")
        : item.type;
  const bar = isUser ? "blue" : item.type === "text" ? "green" : "magenta";
  return ["", ...shifted([headingLine(narrowed, { bar, title }), ...textLines(narrowed, item.text)])];
}

function subagentLines(io: Io, { agent, items, status, error }: SubagentTurn, place: ItemPlace): string[] {
  const indent = `${place.indent}    `;
  const failed =
    error === undefined
      ? []
      : [`${indent}${io.paint("red", io.inline(error.message, io.width).slice(0, io.width - indent.length))}`];
  const title = `${io.inline(agent ?? "subagent")}${status === "completed" ? "" : ` (${status})`}`;
  return [
    `${indent}${io.paint("cyan", "↳")} ${io.paint("bold", title.slice(0, Math.max(8, io.width - indent.length - 2)))}`,
    ...items.flatMap((item) => itemLines(io, item, { ...place, agent: agent ?? "subagent", indent })),
    ...failed,
    "",
  ];
}
