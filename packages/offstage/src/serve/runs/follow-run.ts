// Follows a run that works in another process: its finished steps from the record, then polling until it ends.
import { setTimeout as sleep } from "node:timers/promises";
import type { PersistentSession } from "../../sessions/persistent-session.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import type { Show } from "../telling/show.ts";
import { tellEnd, tellRecord, tellSteps } from "../telling/tell-record.ts";
import { Teller } from "../telling/teller.ts";
import type { EventReader } from "./event-log.ts";

const pollMs = { first: 100, last: 1000 };

export interface FollowOptions {
  readonly show: Show;
  /** The record as the client has seen it, if the run was resumed since: only what follows is told. */
  readonly told?: FoundRun | undefined;
}

/** Reads a recorded run as it grows. Ends with the run. */
export function followRun(session: PersistentSession, runId: string, { show, told }: FollowOptions): EventReader {
  const teller = new Teller(runId, show);
  const closing = new AbortController();
  const read = (id: string) => session.run(id);
  let hasStarted = told !== undefined;
  let hasEnded = false;
  let after = told?.steps.at(-1)?.step ?? 0;
  let priming = told && tellRecord(told, teller, { read });
  let waitMs = pollMs.first;
  const next: EventReader["next"] = async () => {
    await priming;
    priming = undefined;
    while (!hasEnded && !closing.signal.aborted) {
      const run = await read(runId);
      if (run === undefined) return undefined;
      const steps = await tellSteps(run, teller, { read, after });
      const end = tellEnd(run, teller);
      const events = [...(hasStarted ? [] : [teller.start(run.agent)]), ...steps, ...end];
      hasStarted = true;
      hasEnded = end.length > 0;
      after = run.steps.at(-1)?.step ?? after;
      if (events.length > 0) {
        waitMs = pollMs.first;
        return events;
      }
      await sleep(waitMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, pollMs.last);
    }
    return undefined;
  };
  return { next, close: () => closing.abort() };
}
