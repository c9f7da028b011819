// offstage tail: runs of any process as they happen. It polls, because a store does not tell anybody that it was written to.
import { setTimeout as sleep } from "node:timers/promises";
import type { FoundRun, ListRunsOptions } from "../../../doors/sessions.ts";
import { type Message, textOf } from "../../../messages/message.ts";
import type { Store } from "../../../sessions/store.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io } from "../../io.ts";
import { readCount } from "../../option-values.ts";
import { callLines } from "../../output/calls.ts";
import { columnsOf, fit } from "../../output/columns.ts";
import { shortId } from "../../output/short-ids.ts";
import { duration, markOf, short, styleOf } from "../../output/words.ts";
import { findSession } from "../../store/find.ts";
import { callsOf } from "../../store/run-detail.ts";

const pollMs = 400;

export const command: Command = defineCommand({
  options: {
    last: { type: "string", short: "n", value: "n", text: "begin with the last n runs and their subagents; default 3" },
  },
  examples: ["offstage tail", "offstage tail anna --last 0", "offstage tail --json | jq .event"],
  keys: ["event", "time", "runId", "sessionId", "agent", "status", "reason", "step", "message"],
  notes: "A run that is running is shown from its start, whatever --last says. Goes on until Ctrl+C.",
  async run({ positionals: [wanted], values }, io) {
    const store = await io.openStore();
    const sessionId = wanted === undefined ? undefined : (await findSession(store, wanted)).sessionId;
    const follower = new Follower(io, store, sessionId);
    await follower.begin(readCount(values.last, "last") ?? 3);
    while (!io.world.signal.aborted) {
      await follower.poll();
      await sleep(pollMs, undefined, { signal: io.world.signal }).catch(() => {});
    }
    return 0;
  },
});

interface Seen {
  readonly parts: number;
  readonly status: string;
}

class Follower {
  readonly #io: Io;
  readonly #store: Store;
  readonly #filter: ListRunsOptions;
  readonly #seen = new Map<string, Seen>();
  #newest = 0;

  constructor(io: Io, store: Store, sessionId: string | undefined) {
    this.#io = io;
    this.#store = store;
    this.#filter = sessionId === undefined ? {} : { sessionId };
  }

  /** Tells the last runs with their subagents, the oldest first. Everything later is told by `poll()`. */
  async begin(last: number): Promise<void> {
    const [newest] = await this.#store.runs.list({ ...this.#filter, subagents: true, limit: 1 });
    this.#newest = Number(newest?.cursor ?? 0);
    const recent = await this.#store.runs.list({ ...this.#filter, limit: last });
    for (const { runId } of recent.toReversed()) await this.#tell(runId);
  }

  /** Tells what happened since the last poll: new runs, and the open ones that went on. */
  async poll(): Promise<void> {
    const filter = { ...this.#filter, subagents: true };
    const latest = await this.#store.runs.list({ ...filter, limit: 50 });
    const running = await this.#store.runs.list({ ...filter, status: "running" });
    const fresh = latest.filter(({ cursor }) => Number(cursor) > this.#newest).reverse();
    this.#newest = Math.max(this.#newest, ...fresh.map(({ cursor }) => Number(cursor)));
    const open = [...this.#seen].flatMap(([runId, { status }]) => (isOpen(status) ? [runId] : []));
    const told = [...running.toReversed(), ...fresh].map(({ runId }) => runId);
    for (const runId of new Set([...told, ...open])) await this.#tell(runId);
  }

  // A run that is told for the first time brings its subagents along: they may have ended before.
  async #tell(runId: string): Promise<void> {
    const run = await this.#store.runs.get(runId);
    if (run === undefined) return;
    const parts = partsOf(run);
    const before = this.#seen.get(runId);
    if (before === undefined) this.#print(run, { event: "run-start" });
    for (const part of parts.slice(before?.parts ?? 0)) this.#print(run, part);
    if (run.status !== before?.status && (before !== undefined || run.status !== "running"))
      this.#print(run, { event: "run-status" });
    this.#seen.set(runId, { parts: parts.length, status: run.status });
    if (before === undefined)
      for (const child of run.children) if (!this.#seen.has(child.runId)) await this.#tell(child.runId);
  }

  #print(run: FoundRun, part: Part): void {
    const io = this.#io;
    if (io.isJson) {
      const { runId, sessionId, agent, status, reason = null } = run;
      const time = new Date().toISOString();
      io.record({
        event: part.event,
        time,
        runId,
        sessionId,
        agent,
        status,
        reason,
        step: part.step ?? null,
        message: part.message ?? null,
      });
      return;
    }
    for (const line of partLines(io, run, part)) io.print(line);
  }
}

function isOpen(status: string): boolean {
  return status === "running" || status === "waiting" || status === "interrupted";
}

interface Part {
  readonly event: "run-start" | "message" | "run-status";
  readonly step?: number;
  readonly message?: Message;
  /** The messages of its step, to find the results of its calls. */
  readonly beside?: readonly Message[];
}

// Finished steps only: an open step is told when its results are there.
function partsOf(run: FoundRun): Part[] {
  const input = run.input.map((message): Part => ({ event: "message", message }));
  const steps = run.steps.flatMap(({ step, messages }) =>
    messages.map((message): Part => ({ event: "message", step, message, beside: messages })),
  );
  return [...input, ...steps];
}

function partLines(io: Io, run: FoundRun, { event, message, beside = [] }: Part): string[] {
  const { status, reason, agent, durationMs, usage, error, runId, sessionId } = run;
  if (event === "run-start") {
    const indent = run.parentRunId === undefined ? "" : "  ";
    const name = fit(`${indent}▶ ${io.inline(agent)}`, Math.floor(io.width / 2));
    const place = fit(`${io.inline(sessionId)} · run ${io.inline(shortId(runId))}`, io.width - columnsOf(name) - 1);
    return ["", `${io.paint("bold", name)} ${io.paint("dim", place)}`];
  }
  if (event === "run-status") {
    const why = error?.message ?? (reason === "answered" ? undefined : reason);
    const facts = [
      status,
      io.inline(why ?? "", io.width),
      duration(durationMs),
      usage === undefined ? "" : `${short(usage.totalTokens)} tokens`,
    ];
    return [
      io.paint(
        styleOf(status) ?? "dim",
        fit(`  ${markOf(status)} ${facts.filter((fact) => fact !== "").join(" · ")}`, io.width),
      ),
    ];
  }
  if (message === undefined || message.role === "tool") return [];
  const text = textOf(message);
  const said =
    text === ""
      ? []
      : [
          `  ${io.paint(message.role === "user" ? "blue" : "green", "▌")} ${fit(io.inline(text, io.width), io.width - 4)}`,
        ];
  const calls = callsOf([message, ...beside.filter(({ role }) => role === "tool")], { run, spans: [] });
  return [...said, ...calls.flatMap((call) => callLines(io, call, "  "))];
}
