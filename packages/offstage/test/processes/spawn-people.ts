// Starts processes of people-worker.ts, and checks what kills at the inbox leave behind.
import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { sqliteStore } from "../../src/index.ts";
import { glance } from "../support/cast.ts";
import { listener, type PlacedJob } from "./people-worker.ts";

const script = fileURLToPath(new URL("./people-worker.ts", import.meta.url));

export interface Person {
  readonly child: ChildProcess;
  /** Resolves with the lines it printed, and the signal it was killed by. */
  readonly ended: Promise<{
    readonly lines: readonly string[];
    readonly signal: string | null;
    readonly errors: string;
  }>;
}

/** Starts a process with a job. */
export function startPerson(job: PlacedJob): Person {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "offstage-compile-cache"), NODE_OPTIONS: "" };
  const child = spawn(process.execPath, [script, JSON.stringify(job)], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.on("data", (data: Buffer) => {
    output += data.toString();
  });
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  const ended = new Promise<Awaited<Person["ended"]>>((resolve) => {
    child.once("close", (_, signal) => resolve({ lines: output.split("\n").slice(0, -1), signal, errors }));
  });
  return { child, ended };
}

const points = (["inbox.add", "inbox.take"] as const).flatMap((at) =>
  (["before", "after"] as const).map((when) => ({ role: "killed" as const, at, when })),
);

/** Kills processes at the inbox, `rounds` times at each of four points, and finishes their runs here. Returns the number of kills. */
export async function killAtInbox(path: string, rounds: number): Promise<number> {
  await using store = sqliteStore({ path });
  await store.ready();
  let kills = 0;
  for (let round = 0; round < rounds; round++) {
    const jobs = points.map((point) => ({
      ...point,
      url: `sqlite:${path}`,
      session: `${point.at}-${point.when}-${round}`,
    }));
    for (const pair of [jobs.slice(0, 2), jobs.slice(2)]) {
      const ends = await Promise.all(pair.map((job) => startPerson(job).ended));
      for (const [index, { signal, errors }] of ends.entries()) {
        expect(signal, errors).toBe("SIGKILL");
        kills++;
        const { session: id, at, when } = pair[index] as (typeof jobs)[0];
        const session = store.session(id);
        const [run] = await session.runs();
        const done = await listener(store, id).resume(run?.runId ?? "", { store });
        // Killed before the message was durable, nobody has said it.
        const said = at === "inbox.add" && when === "before" ? [] : ["user: Meanwhile."];
        expect(glance(await session.getItems())).toEqual(["user: Go", ...said, "assistant: Done."]);
        expect(done.output).toBe("Done.");
      }
    }
  }
  expect(await store.verify()).toEqual([]);
  return kills;
}
