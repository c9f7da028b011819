// offstage stats: runs, failures, tokens and cost by day, agent, model and more, with bars and a spark line over the days.
import type { Dimension, GroupNumbers } from "../../../doors/sessions.ts";
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io } from "../../io.ts";
import { readTime, sinceOption, untilOption } from "../../option-values.ts";
import { bar, sparkline } from "../../output/bars.ts";
import { fit } from "../../output/columns.ts";
import { type Column, tableLines } from "../../output/table.ts";
import { counted, dollars, duration, short } from "../../output/words.ts";

const dimensions: readonly Dimension[] = ["day", "agent", "model", "tool", "session", "status"];
const mostRows = 40;

export const command: Command = defineCommand({
  options: {
    by: { type: "string", value: "day,agent,…", text: `what to group by: ${dimensions.join(", ")}; default day` },
    since: sinceOption,
    until: untilOption,
    all: { type: "boolean", text: `all groups, instead of the first ${mostRows}` },
  },
  examples: ["offstage stats", "offstage stats --by agent,model --since 7d", "offstage stats --by tool --json"],
  keys: [
    ...["day", "agent", "model", "tool", "session", "status", "runs", "calls", "failures"],
    ...["inputTokens", "outputTokens", "totalTokens", "cost", "p50Ms", "p95Ms"],
  ],
  async run({ values }, io) {
    const by = readDimensions(values.by);
    const range = { since: readTime(values.since, "since"), until: readTime(values.until, "until") };
    const store = await io.openStore();
    const groups = await store.numbers({ by, ...range });
    if (groups.every(({ runs }) => runs === 0)) {
      io.note("No runs.");
      return 1;
    }
    if (io.isJson) {
      for (const group of groups) io.record(asJson(group));
      return 0;
    }
    const days = by.length === 1 && by[0] === "day" ? groups : await store.numbers({ by: "day", ...range });
    for (const line of totalLines(io, days)) io.print(line);
    const shown = values.all === true ? groups : groups.slice(0, mostRows);
    for (const line of tableLines(shown, columnsFor(io, by, groups), io)) io.print(line);
    if (shown.length < groups.length)
      io.note(`${counted(groups.length - shown.length, "more group")}: --all shows them.`);
    return 0;
  },
});

function readDimensions(text = "day"): Dimension[] {
  const names = text.split(",").map((name) => name.trim());
  const strange = names.find((name) => !dimensions.includes(name as Dimension));
  if (strange !== undefined)
    throw new UsageError(`--by takes ${dimensions.join(", ")}, joined by commas; found "${strange}".`);
  return names as Dimension[];
}

function totalLines(io: Io, days: readonly GroupNumbers[]): string[] {
  const sum = (value: (group: GroupNumbers) => number): number =>
    days.reduce((total, group) => total + value(group), 0);
  const failures = sum((group) => group.failures);
  const facts = [
    counted(
      sum(({ runs }) => runs),
      "run",
    ),
    `${short(sum(({ totalTokens }) => totalTokens))} tokens`,
    costText(sum(({ cost }) => cost)),
  ].filter((fact) => fact !== "");
  const failed = failures === 0 ? "" : `, ${io.paint("red", `${short(failures)} failed`)}`;
  const perDay = everyDay(days).slice(-(io.width - 12));
  const spark =
    perDay.length < 2 ? [] : [`${io.paint("cyan", sparkline(perDay))}  ${io.paint("dim", fit("runs a day", 10))}`];
  return [`${io.paint("bold", facts.join(", "))}${failed}`, ...spark, ""];
}

// A sum of 0 means that no model of the group has a known price.
function costText(cost: number): string {
  return cost === 0 ? "" : dollars(cost);
}

const dayMs = 86_400_000;
const mostDays = 400;

// The runs of each day from the first to the last, with the days between them.
function everyDay(days: readonly GroupNumbers[]): number[] {
  const byDay = new Map(days.flatMap(({ day, runs }) => (day === undefined ? [] : [[Date.parse(day), runs]])));
  const times = [...byDay.keys()];
  const last = Math.max(...times);
  const first = Math.max(Math.min(...times), last - mostDays * dayMs);
  const values: number[] = [];
  for (let time = first; time <= last; time += dayMs) values.push(byDay.get(time) ?? 0);
  return values;
}

function columnsFor(io: Io, by: readonly Dimension[], groups: readonly GroupNumbers[]): Column<GroupNumbers>[] {
  const isByTool = by.includes("tool");
  const sizeOf = (group: GroupNumbers): number => (isByTool ? (group.calls ?? 0) : group.runs);
  const most = Math.max(...groups.map(sizeOf));
  return [
    ...by.map(
      (name): Column<GroupNumbers> => ({
        name,
        text: (group) => io.inline(group[name] ?? "(unknown)"),
        style: () => (name === "day" ? "dim" : "cyan"),
        ...(name === "day" ? {} : { shrinksTo: 16, most: 32 }),
      }),
    ),
    { name: isByTool ? "calls" : "runs", text: (group) => short(sizeOf(group)), align: "right" },
    {
      name: "failed",
      text: ({ failures }) => (failures === 0 ? "" : short(failures)),
      style: () => "red",
      align: "right",
      rank: 1,
    },
    ...(isByTool
      ? []
      : [
          { name: "tokens", text: (group: GroupNumbers) => short(group.totalTokens), align: "right" as const, rank: 2 },
          { name: "cost", text: (group: GroupNumbers) => costText(group.cost), align: "right" as const, rank: 4 },
        ]),
    { name: "median", text: ({ p50Ms }) => duration(p50Ms), align: "right", rank: 5 },
    { name: "95 %", text: ({ p95Ms }) => duration(p95Ms), align: "right", rank: 6 },
    { name: "", text: (group) => bar(sizeOf(group), most, io.width >= 120 ? 40 : 16), style: () => "cyan", rank: 7 },
  ];
}

function asJson(group: GroupNumbers): object {
  const { day = null, agent = null, model = null, tool = null, session = null, status = null, calls = null } = group;
  const { runs, failures, inputTokens, outputTokens, totalTokens, cost, p50Ms = null, p95Ms = null } = group;
  return {
    day,
    agent,
    model,
    tool,
    session,
    status,
    runs,
    calls,
    failures,
    inputTokens,
    outputTokens,
    totalTokens,
    cost,
    p50Ms,
    p95Ms,
  };
}
