// Kills a process in mid-run at each named point, resumes the runs in another process, and checks the results.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { sqliteStore } from "../../src/index.ts";
import { glance } from "../support/cast.ts";
import type { AgentJob, AgentReport, KillPoint } from "./agent-worker.ts";
import { effectsIn, spawnAgents } from "./spawn-agents.ts";

export interface KillCase {
  readonly name: string;
  readonly killAt: KillPoint;
  /** How often each tool ran, in both processes together. */
  readonly effects: { readonly charge: number; readonly put: number };
  /** The tool whose effect is reported to the model as unknown. */
  readonly unknown?: "charge";
  /** True if nothing of the run was stored. */
  readonly isUnbegun?: boolean;
  /** True if the run had ended when the process died. */
  readonly isOver?: boolean;
  /** True if a subagent was running when the process died. */
  readonly isBelow?: boolean;
}

const once = { charge: 1, put: 1 };

function write(at: "run.begin" | "tool.intent" | "step.commit" | "run.end", when: "before" | "after"): KillCase {
  return { name: `${when} ${at}`, killAt: { at, when, action: "kill" }, effects: once };
}

function result(nth: number, when: "before" | "after", more: Partial<KillCase> = {}): KillCase {
  return {
    name: `${when} tool.result ${nth}`,
    killAt: { at: "tool.result", when, nth, action: "kill" },
    effects: once,
    ...more,
  };
}

type Label = Extract<KillPoint, { at: unknown }>["at"];

// The first result, step and end of the process are the subagent's; so is the second intent, after the one that calls it.
function casesBelow(): KillCase[] {
  const below = (at: Label, when: "before" | "after", more: Partial<KillCase> = {}): KillCase => {
    const nth = at === "tool.intent" ? 2 : 1;
    const killAt = { at, when, nth, action: "kill" } as const;
    return { name: `${when} ${at} of a subagent`, killAt, effects: once, isBelow: true, ...more };
  };
  return [
    below("run.child", "before"),
    below("run.child", "after"),
    below("tool.intent", "before"),
    below("tool.intent", "after", { unknown: "charge", effects: { charge: 0, put: 1 } }),
    below("tool.result", "before", { unknown: "charge" }),
    below("tool.result", "after"),
    below("step.commit", "before"),
    below("step.commit", "after"),
    below("run.end", "before"),
    below("run.end", "after"),
  ];
}

/** Every named point of a run with two tool steps and an answer. */
export const killCases: readonly KillCase[] = [
  { ...write("run.begin", "before"), isUnbegun: true, effects: { charge: 0, put: 0 } },
  write("run.begin", "after"),
  ...[1, 2, 3].flatMap((model) =>
    (["before", "after"] as const).map((when): KillCase => {
      return { name: `${when} model call ${model}`, killAt: { model, when }, effects: once };
    }),
  ),
  write("tool.intent", "before"),
  { ...write("tool.intent", "after"), unknown: "charge", effects: { charge: 0, put: 1 } },
  { name: "inside a tool", killAt: { tool: "charge" }, unknown: "charge", effects: once },
  result(1, "before", { unknown: "charge" }),
  result(1, "after"),
  { name: "inside an idempotent tool", killAt: { tool: "put" }, effects: { charge: 1, put: 2 } },
  result(2, "before", { effects: { charge: 1, put: 2 } }),
  result(2, "after"),
  write("step.commit", "before"),
  write("step.commit", "after"),
  {
    name: "before step.commit of a single call",
    killAt: { at: "step.commit", when: "before", nth: 2, action: "kill" },
    effects: once,
  },
  write("run.end", "before"),
  { ...write("run.end", "after"), isOver: true },
  ...casesBelow(),
];

/** One case after its process was killed, with the report of the process that resumed it, if that was possible. */
export interface Survived {
  readonly job: AgentJob;
  readonly runId: string | undefined;
  resumed?: AgentReport;
}

/** Kills one process per case, two at a time, then resumes all runs in one new process. */
export async function killAndResume(
  folder: string,
  cases: readonly KillCase[],
  round: number,
): Promise<Map<KillCase, Survived>> {
  const waiting = [...cases];
  const survived = new Map<KillCase, Survived>();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      survived.set(next, await kill(join(folder, `${cases.indexOf(next)}-${round}`), next, round % 2 === 1));
    }
  };
  await Promise.all([work(), work()]);
  const known = [...survived.values()].filter(({ runId }) => runId !== undefined);
  const { reports, errors } = await spawnAgents(
    known.map(({ job: { killAt: _, ...job }, runId = "" }) => ({ ...job, resume: { runId } })),
  );
  expect(reports.length, errors).toBe(known.length);
  for (const [index, each] of known.entries()) each.resumed = reports[index] ?? {};
  return survived;
}

async function kill(
  place: string,
  { killAt, isUnbegun, isOver, isBelow }: KillCase,
  isStreaming: boolean,
): Promise<Survived> {
  const job: AgentJob = {
    path: `${place}.db`,
    effects: `${place}.effects`,
    agent: isBelow ? "parent" : "worker",
    isStreaming,
    killAt,
  };
  writeFileSync(job.effects, "");
  const { signal, errors } = await spawnAgents([job]);
  expect(signal, errors).toBe("SIGKILL");
  await using store = sqliteStore({ path: job.path });
  const [run] = await store.runs.list();
  expect(run?.status).toBe(isUnbegun ? undefined : isOver ? "completed" : "interrupted");
  expect(glance(await store.session("s").getItems())).toEqual(
    isUnbegun ? [] : isOver ? ["user: Go", "assistant: Done."] : ["user: Go"],
  );
  expect(await store.verify()).toEqual([]);
  return { job, runId: run?.runId };
}

/** Expects that a killed run was finished correctly, with no effect repeated. */
export async function expectResumed({ job, runId, resumed }: Survived, each: KillCase): Promise<void> {
  const { charge = 0, put = 0, look = 0 } = effectsIn(job.effects);
  expect({ charge, put }).toEqual(each.effects);
  if (each.isUnbegun) return;
  expect(look).toBe(1);
  if (each.isOver) expect(resumed).toEqual({ failure: "run-not-resumable" });
  else expect(resumed).toMatchObject({ runId, status: "completed", output: "Done." });
  await using store = sqliteStore({ path: job.path });
  expect(glance(await store.session("s").getItems())).toEqual(["user: Go", "assistant: Done."]);
  expect(await store.verify()).toEqual([]);
  const run = await store.runs.get(runId ?? "");
  expect(run).toMatchObject({ status: "completed", runId });
  const worked = each.isBelow ? await store.runs.get(run?.children[0]?.runId ?? "") : run;
  expect(run?.children).toHaveLength(each.isBelow ? 1 : 0);
  expect(glance(worked?.steps.flatMap(({ messages }) => messages) ?? [])).toEqual([
    "assistant: [charge put]",
    resultOf("charge", each),
    "tool: put done",
    "assistant: [look]",
    "tool: look done",
    "assistant: Done.",
  ]);
}

function resultOf(name: "charge", { unknown }: KillCase): unknown {
  return unknown === name ? expect.stringMatching(`"${name}" was interrupted.*unknown`) : `tool: ${name} done`;
}
