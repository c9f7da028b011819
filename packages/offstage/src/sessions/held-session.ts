// Held sessions: those of the run that this code is part of, and of the runs around it. Known so that no run waits for itself.
import { currentAround } from "../tracing/trace-scope.ts";
import type { Fifo } from "./fifo.ts";
import type { HeldSession, RunStart } from "./journal.ts";
import { SessionBusyError } from "./session-errors.ts";

/** A run as the code within it sees it. Nothing else of the run: a socket that outlives it keeps this for as long. */
export interface AroundRun {
  /** Set while the run has its session. */
  held: HeldSession | undefined;
  /** The run that this one was started from. */
  readonly outer: AroundRun | undefined;
}

/** What the code of a new run is to be entered with. Runs around it that hold nothing are passed over: they may be long over. */
export function aroundRun(held?: HeldSession): AroundRun {
  let outer = currentAround() as AroundRun | undefined;
  while (outer !== undefined && outer.held === undefined) outer = outer.outer;
  return { held, outer };
}

/** The error where run `runId`, or some other run, holds the session; says so where that run is around this code. */
export function busy(sessionId: string, runId?: string): SessionBusyError {
  if (runId !== undefined && isAround((held) => held.runId === runId)) return ownSession(sessionId);
  const who = runId === undefined ? "Another run" : `Run "${runId}"`;
  return new SessionBusyError(`${who} holds session "${sessionId}". Wait for it, or use onBusy: "queue".`);
}

/** Takes the place in the queue of a session, as `Fifo.enter` does; throws `SessionBusyError` where that is not to be waited for. */
export function enterSession(
  gate: Fifo,
  sessionId: string,
  { onBusy, signal }: Pick<RunStart, "onBusy" | "signal">,
): (() => void) | Promise<() => void> {
  if (gate.isHeld) {
    if (isAround((held) => held.place === gate.current)) throw ownSession(sessionId);
    if (onBusy === "reject") throw busy(sessionId);
  }
  return gate.enter({ signal });
}

function isAround(isIt: (held: HeldSession) => boolean): boolean {
  for (let run = currentAround() as AroundRun | undefined; run !== undefined; run = run.outer)
    if (run.held !== undefined && isIt(run.held)) return true;
  return false;
}

function ownSession(sessionId: string): SessionBusyError {
  const message = `Session "${sessionId}" is held by the run that this one was started from, which would wait for itself. Make the agent a tool with agent.asTool(), or use another session.`;
  return new SessionBusyError(message, { isOwn: true });
}
