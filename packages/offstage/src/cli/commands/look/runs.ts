// offstage runs: runs of all sessions or of one, the latest first.
import type { ListedRun, RunStatus } from "../../../doors/sessions.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io } from "../../io.ts";
import { limitOption, readCount, readTime, runStatusOption, sinceOption, untilOption } from "../../option-values.ts";
import { shortIds } from "../../output/short-ids.ts";
import { type Column, tableLines } from "../../output/table.ts";
import { ago, counted, dollars, duration, markOf, short, styleOf } from "../../output/words.ts";
import { findSession } from "../../store/find.ts";

const usualLimit = 30;

/** The keys of a run in JSON. */
export const runKeys: readonly string[] = [
  ...["runId", "sessionId", "agent", "model", "provider", "status", "reason", "stopReason", "error"],
  ...["startedAt", "endedAt", "durationMs", "stepCount", "errorCount", "usage", "cost", "parentRunId", "traceId"],
  "annotations",
];

export const command: Command = defineCommand({
  options: {
    status: runStatusOption,
    agent: { type: "string", value: "name", text: "only of this agent", multiple: true },
    model: { type: "string", value: "name", text: "only of this model", multiple: true },
    label: { type: "string", value: "label", text: "only with this feedback, such as bad", multiple: true },
    text: { type: "string", value: "text", text: "only with this text in a message or in the error" },
    since: sinceOption,
    until: untilOption,
    subagents: { type: "boolean", text: "the runs of subagents too" },
    limit: { ...limitOption, text: `at most this many; default ${usualLimit}` },
    all: { type: "boolean", text: "all of them" },
  },
  examples: [
    "offstage runs",
    "offstage runs anna",
    "offstage runs --status failed --since 1d",
    "offstage runs --label bad",
  ],
  keys: runKeys,
  async run({ positionals: [wanted], values }, io) {
    const { status, agent, model, label, text, since, until, subagents = false, all = false } = values;
    const limit = all ? undefined : (readCount(values.limit, "limit") ?? usualLimit);
    const store = await io.openStore();
    const session = wanted === undefined ? undefined : await findSession(store, wanted);
    const found = await store.runs.list({
      ...(session !== undefined && { sessionId: session.sessionId }),
      ...(status !== undefined && { status: status as RunStatus[] }),
      ...{ agent, model, label, text, subagents },
      ...{ since: readTime(since, "since"), until: readTime(until, "until") },
      limit: limit === undefined ? undefined : limit + 1,
    });
    const shown = found.slice(0, limit);
    if (shown.length === 0) {
      io.note("No runs.");
      return 1;
    }
    if (io.isJson) for (const run of shown) io.record(runJson(run));
    else {
      for (const line of tableLines(shown, columnsFor(shown, io, session === undefined), io)) io.print(line);
      if (found.length > shown.length)
        io.note(`There are more than ${counted(shown.length, "run")}. --limit or --all shows them.`);
    }
    return 0;
  },
});

function columnsFor(shown: readonly ListedRun[], io: Io, hasSession: boolean): Column<ListedRun>[] {
  const runName = shortIds(shown.map(({ runId }) => runId));
  const sessionName = shortIds(shown.map(({ sessionId }) => sessionId));
  const { inline } = io;
  return [
    { name: "", text: ({ status }) => markOf(status), style: ({ status }) => styleOf(status) },
    { name: "run", text: ({ runId }) => inline(runName(runId)), style: () => "cyan", shrinksTo: 8, most: 36 },
    ...(hasSession
      ? [
          {
            name: "session",
            text: (run: ListedRun) => inline(sessionName(run.sessionId)),
            shrinksTo: 8,
            most: 24,
            rank: 4,
          },
        ]
      : []),
    { name: "agent", text: ({ agent }) => inline(agent), shrinksTo: 6, most: 20 },
    { name: "model", text: ({ model }) => inline(model ?? ""), style: () => "dim", rank: 7, most: 24 },
    {
      name: "how it ended",
      text: (run) => inline(ending(run)),
      style: ({ status }) => styleOf(status),
      shrinksTo: 30,
      most: 70,
    },
    { name: "begun", text: ({ startedAt }) => ago(startedAt), style: () => "dim", rank: 3 },
    { name: "took", text: ({ durationMs }) => duration(durationMs), align: "right", rank: 2 },
    { name: "steps", text: ({ stepCount }) => short(stepCount), align: "right", rank: 5 },
    {
      name: "errors",
      text: ({ errorCount }) => (errorCount === 0 ? "" : short(errorCount)),
      style: () => "red",
      align: "right",
      rank: 4,
    },
    { name: "tokens", text: ({ usage }) => short(usage?.totalTokens), align: "right", rank: 6 },
    { name: "cost", text: ({ cost }) => dollars(cost), align: "right", rank: 8 },
    {
      name: "feedback",
      text: ({ annotations = [] }) => inline(annotations.map(({ label }) => label).join(" ")),
      style: () => "yellow",
      rank: 9,
      most: 20,
    },
  ];
}

function ending({ status, reason, stopReason, error }: ListedRun): string {
  if (error !== undefined) return `${status}: ${error.message}`;
  return status === "completed" || reason === undefined ? status : `${status}: ${stopReason ?? reason}`;
}

/** A run as `--json` shows it in lists. */
export function runJson(run: Omit<ListedRun, "cursor">): object {
  const { runId, sessionId, agent, model, provider, status, reason, error, startedAt, endedAt, durationMs } = run;
  return {
    ...{ runId, sessionId, agent, model: model ?? null, provider: provider ?? null, status, reason: reason ?? null },
    ...{
      stopReason: run.stopReason ?? null,
      error: error ?? null,
      startedAt,
      endedAt: endedAt ?? null,
      durationMs: durationMs ?? null,
    },
    ...{ stepCount: run.stepCount, errorCount: run.errorCount, usage: run.usage ?? null, cost: run.cost ?? null },
    ...{ parentRunId: run.parentRunId ?? null, traceId: run.traceId ?? null, annotations: run.annotations ?? [] },
  };
}
