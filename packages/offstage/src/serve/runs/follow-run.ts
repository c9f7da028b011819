// Follows a run that works in another process: its finished steps from the record, then polling until it ends.
import { setTimeout as sleep } from "node:timers/promises";
import type { PersistentSession } from "../../sessions/persistent-session.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import type { Show } from "../telling/show.ts";
import { tellEnd, tellRecord, tellSteps } from "../telling/tell-record.ts";
import { Teller } from "../telling/teller.ts";
import type { EventReader } from "./event-log.ts";
import type { HostedRun } from "./run-host.ts";

const pollMs = { first: 100, last: 1000 };

export interface FollowOptions {
  readonly show: Show;
  /** The record as the client has seen it, if the run was resumed since: only what follows is told. */
  readonly told?: FoundRun | undefined;
  /** Resumes the run here if its process died. Default: the reader is told that it was interrupted. */
  readonly recover?: (() => Promise<HostedRun | undefined>) | undefined;
}

/** Reads a recorded run as it grows. Ends with the run. */
export function followRun(
  session: PersistentSession,
  runId: string,
  { show, told, recover }: FollowOptions,
): EventReader {
  const teller = new Teller(runId, show);
  const closing = new AbortController();
  const read = (id: string) => session.run(id);
  let hasStarted = told !== undefined;
  let hasEnded = false;
  let after = told?.steps.at(-1)?.step ?? 0;
  let priming = told && tellRecord(told, teller, { read });
  let waitMs = pollMs.first;
  let recovered: EventReader | undefined;
  // True if the run goes on, here or in another process.
  const goesOn = async (): Promise<boolean> => {
    const run = await recover?.();
    if (run?.runId === runId) recovered = run.read("resumed");
    return recovered !== undefined || (await read(runId))?.status === "running";
  };
  const next: EventReader["next"] = async () => {
    await priming;
    priming = undefined;
    while (!hasEnded && !closing.signal.aborted) {
      if (recovered !== undefined) return recovered.next();
      const run = await read(runId);
      if (run === undefined) return undefined;
      const steps = await tellSteps(run, teller, { read, after });
      const isLost = run.status === "interrupted" && recover !== undefined && (await goesOn());
      const end = isLost ? [] : tellEnd(run, teller);
      const events = [...(hasStarted ? [] : [teller.start(run.agent)]), ...steps, ...end];
      hasStarted = true;
      hasEnded = end.length > 0;
      after = run.steps.at(-1)?.step ?? after;
      if (events.length > 0) {
        waitMs = pollMs.first;
        return events;
      }
      if (recovered !== undefined) continue;
      await sleep(waitMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, pollMs.last);
    }
    return undefined;
  };
  const close = (): void => {
    closing.abort();
    recovered?.close();
  };
  return { next, close };
}
