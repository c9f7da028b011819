// offstage timeline: said and done in two columns if the terminal is wide enough, otherwise one below the other.
import type { RunSummary } from "../../../query/run-summary.ts";
import type { SubagentTurn, Turn, TurnItem } from "../../../query/turn.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io, Style } from "../../io.ts";
import { statusOfCall } from "../../output/calls.ts";
import { columnsOf, fit, wrap } from "../../output/columns.ts";
import { counted, duration, markOf, short, styleOf } from "../../output/words.ts";
import { NotFound } from "../../store/find.ts";
import { queryOf } from "../../store/find-query.ts";

export const command: Command = defineCommand({
  options: {},
  examples: ["offstage timeline last", "offstage timeline 3f9a"],
  keys: ["turn", "runId", "status", "reason", "error", "durationMs", "usage", "items"],
  async run({ positionals: [wanted = "last"] }, io) {
    const store = await io.openStore();
    const query = await queryOf(store, wanted);
    const turns = query.timeline();
    if (turns.length === 0) throw new NotFound(`"${wanted}" has no messages.`);
    if (io.isJson) for (const turn of turns) io.record(asJson(turn));
    else for (const line of lines(io, turns, new Map(query.runs().map((run) => [run.runId, run])))) io.print(line);
    return 0;
  },
});

interface Cell {
  readonly text: string;
  readonly style?: Style | undefined;
}

type Runs = ReadonlyMap<string, RunSummary>;

const gutter = " │ ";
const leastForTwo = 72;

function lines(io: Io, turns: readonly Turn[], runs: Runs): string[] {
  const isWide = io.width >= leastForTwo;
  const left = isWide ? Math.floor((io.width - gutter.length) * 0.5) : io.width - 2;
  const right = isWide ? io.width - gutter.length - left : io.width - 4;
  const drawn = turns.flatMap((turn) => {
    const rows: [Cell | undefined, Cell | undefined][] = [];
    for (const item of turn.items) {
      const cells = cellsOf(io, item, { runs, width: isSaid(turn, item) ? left : right, depth: 0 });
      for (const cell of cells) rows.push(isSaid(turn, item) ? [cell, undefined] : [undefined, cell]);
    }
    const title = titleOf(io, turn);
    if (!isWide)
      return [
        "",
        title,
        ...rows.map(([own, other]) =>
          own ? paintCell(io, own) : `  ${io.paint("dim", "│")} ${paintCell(io, other as Cell)}`,
        ),
      ];
    return ["", title, ...sideBySide(io, rows, left)];
  });
  const header = isWide
    ? [io.paint("dim", `${"said".padEnd(left)}${gutter}done`)]
    : [io.paint("dim", "said, and │ done")];
  return [...header, ...drawn];
}

// The messages that were said: the user's, and the last text unless a call follows it.
function isSaid({ items }: Turn, item: TurnItem): boolean {
  if (item.type !== "text") return item.type !== "tool" && item.type !== "subagent";
  return items.indexOf(item) > items.findLastIndex(({ type }) => type === "tool" || type === "subagent");
}

function sideBySide(io: Io, rows: readonly [Cell | undefined, Cell | undefined][], left: number): string[] {
  return rows.map(([said, done]) => {
    const blanks = " ".repeat(Math.max(0, left - columnsOf(said?.text ?? "")));
    return `${said === undefined ? "" : paintCell(io, said)}${blanks}${io.paint("dim", gutter)}${done === undefined ? "" : paintCell(io, done)}`.trimEnd();
  });
}

function paintCell(io: Io, { text, style }: Cell): string {
  return style === undefined ? text : io.paint(style, text);
}

function titleOf(io: Io, { index, status, reason, durationMs, usage, error }: Turn): string {
  const ending = status === "completed" ? "" : ` ${status}${reason === undefined ? "" : `: ${io.inline(reason)}`}`;
  const parts = [
    duration(durationMs),
    usage === undefined ? "" : `${short(usage.totalTokens)} tokens`,
    io.inline(error?.message ?? "", io.width),
  ];
  const facts = parts.filter((part) => part !== "").join(" · ");
  const mark = markOf(status);
  const line = fit(`${mark} turn ${index + 1}${ending}  ${facts}`, io.width);
  const style = styleOf(status);
  return status === "completed" || style === undefined ? io.paint("dim", line) : io.paint(style, line);
}

interface Place {
  readonly runs: Runs;
  readonly width: number;
  readonly depth: number;
}

function cellsOf(io: Io, item: TurnItem, place: Place): Cell[] {
  const { runs, width, depth } = place;
  const indent = "  ".repeat(Math.min(depth, 6));
  const room = Math.max(8, width - indent.length);
  if (item.type === "subagent") return subagentCells(io, item.subagent, place);
  if (item.type === "tool") {
    const { toolName, inputText = "", resultText } = item.call;
    const status = statusOfCall(item.call, runs);
    const isError = status === "error";
    const given = inputText === "{}" ? "" : ` ${io.inline(inputText, room)}`;
    const result =
      resultText === undefined
        ? []
        : [
            {
              text: `${indent}  → ${fit(io.inline(resultText, room), room - 4)}`,
              style: isError ? ("red" as const) : ("dim" as const),
            },
          ];
    return [
      {
        text: `${indent}${fit(`${markOf(status)} ${io.inline(toolName)}${given}`, room)}`,
        style: isError ? "red" : "yellow",
      },
      ...(item.subagents ?? []).flatMap((child) => subagentCells(io, child, { ...place, depth: depth + 1 })),
      ...result,
    ];
  }
  const style: Style | undefined = item.type === "user" ? "blue" : item.type === "text" ? undefined : "magenta";
  const mark = item.type === "user" ? "› " : "  ";
  return wrap(io.block(item.text), room - 2).map((line, index) => ({
    text: `${indent}${index === 0 ? mark : "  "}${line}`,
    style,
  }));
}

function subagentCells(io: Io, { agent, status, items }: SubagentTurn, place: Place): Cell[] {
  const { width, depth } = place;
  const title = `${"  ".repeat(Math.min(depth, 6))}↳ ${io.inline(agent ?? "subagent")}${status === "completed" ? "" : ` (${status})`}, ${counted(items.length, "item")}`;
  return [
    { text: fit(title, width), style: "cyan" },
    ...items.flatMap((item) => cellsOf(io, item, { ...place, depth: depth + 1 })),
  ];
}

function asJson({ index, runId, status, reason, error, durationMs, usage, items }: Turn): object {
  return {
    ...{ turn: index + 1, runId: runId ?? null, status, reason: reason ?? null, error: error ?? null },
    ...{ durationMs: durationMs ?? null, usage: usage ?? null, items },
  };
}
