// The error of a run carries the result so far, as `error.result`.
import { isObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { RunResult } from "../ports/run-result.ts";
import type { Run } from "../run/run.ts";

/** Adds the result to the error itself, so that it keeps its class. Wraps an error that cannot be extended. */
export function failureWithResult(error: OffstageError, result: RunResult<unknown>): OffstageError {
  if (error.result === undefined && defineResult(error, result)) return error;
  return new OffstageError(error.code, error.message, { cause: error, result });
}

/**
 * The reason of an abort, unchanged except for a `result` that is not enumerable. Text and frozen objects cannot carry one, and a
 * `result` of the caller's own stays. If runs share a signal, the run that ended last is the one whose result it carries.
 */
export function reasonWithResult({ identity, scope }: Run, result: RunResult<unknown>): unknown {
  const { reason } = scope.cancellation.signal;
  // A subagent shares the reason of its parent, which ends later.
  if (identity.parent === undefined && mayCarry(reason)) defineResult(reason, result);
  return reason;
}

function mayCarry(reason: unknown): reason is object {
  if (typeof reason !== "object" || reason === null) return false;
  try {
    return !("result" in reason) || reason.result === undefined || isRunResult(reason.result);
  } catch {
    return false;
  }
}

function isRunResult(value: unknown): boolean {
  return isObject(value) && typeof value.runId === "string" && value.state instanceof AgentState;
}

function defineResult(target: object, value: RunResult<unknown>): boolean {
  try {
    return Reflect.defineProperty(target, "result", { value, configurable: true, enumerable: false });
  } catch {
    return false;
  }
}
