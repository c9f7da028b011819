// The sessions that the enclosing runs hold, so that a run that would deadlock on one of them is refused.
import type { AsyncLocalStorage } from "node:async_hooks";
import { asyncScope } from "../../base/async-scope.ts";
import type { Fifo } from "../head/fifo.ts";
import type { HeldSession, RunStart } from "../ports/journal.ts";
import { SessionBusyError } from "../ports/session.ts";

/**
 * The re-entrancy scope of the code that a run calls. It holds nothing else of the run, because async resources that outlive
 * the run, such as sockets, keep it alive.
 */
export interface ReentrancyScope {
  /** The run's session; undefined before the run opens it and after the run ends. */
  held: HeldSession | undefined;
  /** The scope of the run that started this one. */
  readonly outer: ReentrancyScope | undefined;
}

const scopes: AsyncLocalStorage<ReentrancyScope | undefined> = asyncScope("sessions.1");

/** Creates the scope of a new run, inside the current one. Skips outer runs that hold nothing: they may have ended long ago. */
export function createReentrancyScope(held?: HeldSession): ReentrancyScope {
  let outer = scopes.getStore();
  while (outer !== undefined && outer.held === undefined) outer = outer.outer;
  return { held, outer };
}

/** Runs `work` inside `scope`; without one, inside the current scope. */
export function enterReentrancyScope<T>(scope: ReentrancyScope | undefined, work: () => T): T {
  return scope === undefined ? work() : scopes.run(scope, work);
}

/** The error for a session that run `runId` holds, or some other run if that is undefined. */
export function busy(sessionId: string, runId?: string): SessionBusyError {
  if (runId !== undefined && isEnclosing((held) => held.runId === runId)) return deadlock(sessionId);
  const user = runId === undefined ? "another run" : `run "${runId}"`;
  return new SessionBusyError(
    `Session "${sessionId}" is in use by ${user}. Wait for it to end, or use onBusy: "queue".`,
  );
}

/**
 * Takes the place in the queue of a session, as `Fifo.enter` does. Rejects with `SessionBusyError` if an enclosing run holds the
 * session, or if any run does and `onBusy` is "reject".
 */
export async function enterSession(
  gate: Fifo,
  sessionId: string,
  { onBusy, signal }: Pick<RunStart, "onBusy" | "signal">,
): Promise<() => void> {
  if (gate.isHeld) {
    if (isEnclosing((held) => held.place === gate.current)) throw deadlock(sessionId);
    if (onBusy === "reject") throw busy(sessionId);
  }
  return gate.enter({ signal });
}

function isEnclosing(isWanted: (held: HeldSession) => boolean): boolean {
  for (let scope = scopes.getStore(); scope !== undefined; scope = scope.outer)
    if (scope.held !== undefined && isWanted(scope.held)) return true;
  return false;
}

function deadlock(sessionId: string): SessionBusyError {
  const message = `Session "${sessionId}" is already in use by the enclosing run; waiting for it would deadlock. Make the agent a tool with agent.asTool(), or use another session.`;
  return new SessionBusyError(message, { isOwn: true });
}
