// Reads a run that works on some worker, from its record: its finished steps, then polling until it ends.
import { setTimeout as sleep } from "node:timers/promises";
import type { EventReader } from "../../serve/runs/event-log.ts";
import { type FollowOptions, followRun } from "../../serve/runs/follow-run.ts";
import type { ServedEvent } from "../../serve/telling/served-event.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import type { Store } from "../../sessions/store.ts";

export interface FollowQueuedOptions extends FollowOptions {
  readonly store: Store;
  /** Rejects if the run will never begin. */
  readonly checkQueued: () => Promise<void>;
  /** Whether a job of the run is queued or worked on. */
  readonly isActive: () => Promise<boolean>;
}

const pollMs = 100;

/** Reads the events of a run. Waits for a worker to begin it. */
export function followQueuedRun(runId: string, options: FollowQueuedOptions): EventReader {
  const { store, told, checkQueued, isActive } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let reader: EventReader | undefined;
  const begun = async (): Promise<FoundRun | undefined> => {
    while (!signal.aborted) {
      const run = await store.runs.get(runId);
      // A run that was decided about waits until a worker resumes it.
      const isBegun = told === undefined ? run !== undefined : run?.status !== "waiting" || !(await isActive());
      if (isBegun) return run;
      await checkQueued();
      await sleep(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return undefined;
  };
  return {
    async next() {
      if (reader === undefined) {
        const run = await begun();
        if (run === undefined) return undefined;
        reader = followRun(store.session(run.sessionId), runId, options);
      }
      return reader.next();
    },
    close() {
      closing.abort();
      reader?.close();
    },
  };
}

/** The events of a reader, one by one. Leaving the loop closes the reader. */
export async function* eventsOf(reader: EventReader): AsyncGenerator<ServedEvent> {
  try {
    for (let events = await reader.next(); events !== undefined; events = await reader.next()) yield* events;
  } finally {
    reader.close();
  }
}
