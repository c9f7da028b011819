// offstage tools: which tools were called, how often they failed, and how long they took.
import type { Store } from "../../../sessions/store.ts";
import { type Command, defineCommand } from "../../command.ts";
import { readTime, sinceOption, untilOption } from "../../option-values.ts";
import { bar } from "../../output/bars.ts";
import { type Column, tableLines } from "../../output/table.ts";
import { duration, short } from "../../output/words.ts";
import { findSession } from "../../store/find.ts";

interface ToolNumbers {
  readonly tool: string;
  readonly calls: number;
  readonly failures: number;
  readonly runs: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export const command: Command = defineCommand({
  options: { since: sinceOption, until: untilOption },
  examples: ["offstage tools", "offstage tools anna", "offstage tools --since 7d --json"],
  keys: ["tool", "calls", "failures", "runs", "p50Ms", "p95Ms"],
  async run({ positionals: [wanted], values }, io) {
    const store = await io.openStore();
    const since = readTime(values.since, "since");
    const until = readTime(values.until, "until");
    const found =
      wanted === undefined
        ? await ofStore(store, { since, until })
        : await ofSession(store, (await findSession(store, wanted)).sessionId, { since, until });
    if (found.length === 0) {
      io.note("No tool was called.");
      return 1;
    }
    const ordered = found.toSorted((a, b) => b.failures - a.failures || b.calls - a.calls);
    if (io.isJson) for (const each of ordered) io.record(each);
    else for (const line of tableLines(ordered, columnsFor(io.inline, ordered), io)) io.print(line);
    return 0;
  },
});

interface Range {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

async function ofStore(store: Store, range: Range): Promise<ToolNumbers[]> {
  const groups = await store.numbers({ by: "tool", ...range });
  return groups.map(({ tool = "", calls = 0, failures, runs, p50Ms, p95Ms }) => ({
    ...{ tool, calls, failures, runs, p50Ms: p50Ms ?? null, p95Ms: p95Ms ?? null },
  }));
}

// Durations are in the spans of the session, by call.
async function ofSession(store: Store, sessionId: string, { since, until }: Range): Promise<ToolNumbers[]> {
  const query = (await store.session(sessionId).query()).where({ since, until });
  const spans = (await store.spans.list({ sessionId })).filter(({ kind }) => kind === "tool");
  const taken = new Map(spans.map(({ metadata, duration: ms }) => [String(metadata.toolCallId), ms]));
  return query.toolSummary().map(({ toolName, callCount, errorCount, toolCallIds }) => {
    const times = toolCallIds.flatMap((id) => taken.get(id) ?? []).sort((a, b) => a - b);
    const at = (share: number): number | null => times[Math.ceil(times.length * share) - 1] ?? null;
    return { tool: toolName, calls: callCount, failures: errorCount, runs: null, p50Ms: at(0.5), p95Ms: at(0.95) };
  });
}

function columnsFor(inline: (text: string) => string, all: readonly ToolNumbers[]): Column<ToolNumbers>[] {
  const most = Math.max(...all.map(({ calls }) => calls));
  return [
    { name: "tool", text: ({ tool }) => inline(tool), style: () => "yellow", shrinksTo: 10, most: 40 },
    { name: "calls", text: ({ calls }) => short(calls), align: "right" },
    {
      name: "failed",
      text: ({ failures }) => (failures === 0 ? "" : short(failures)),
      style: () => "red",
      align: "right",
    },
    {
      name: "share",
      text: ({ calls, failures }) => (failures === 0 ? "" : `${Math.round((failures / calls) * 100)} %`),
      style: () => "red",
      align: "right",
      rank: 2,
    },
    { name: "median", text: ({ p50Ms }) => duration(p50Ms ?? undefined), align: "right", rank: 3 },
    { name: "95 %", text: ({ p95Ms }) => duration(p95Ms ?? undefined), align: "right", rank: 4 },
    { name: "", text: ({ calls }) => bar(calls, most, 24), style: () => "cyan", rank: 5 },
  ];
}
