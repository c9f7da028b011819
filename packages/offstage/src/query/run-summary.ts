// Run summary: the facts about a run that are not in its messages, as plain data.
import { isObject, type JsonValue } from "../base/json.ts";
import type { Message } from "../messages/message.ts";
import type { Usage } from "../tokens/usage.ts";
import { metadataOf } from "./readers.ts";

/** A run as reports show it: its agent and model, how it ended, and the feedback on it. */
export interface RunSummary {
  readonly runId: string;
  /** The run that called this one, if it is a subagent's. */
  readonly parentRunId?: string;
  /** The call of the parent that this run answers. */
  readonly parentToolCallId?: string;
  readonly sessionId?: string;
  readonly agent: string;
  readonly model?: string;
  readonly provider?: string;
  readonly status: string;
  readonly reason?: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** ISO 8601. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly durationMs?: number;
  /** The tokens used by the run and its subagents. */
  readonly usage?: Usage;
  /** In US dollars. */
  readonly cost?: number;
  readonly steps?: number;
  /** The system text that the model was given. */
  readonly instructions?: string;
  readonly annotations?: readonly RunAnnotation[];
}

/** Feedback on a run. */
export interface RunAnnotation {
  readonly label: string;
  readonly value?: JsonValue | undefined;
  readonly note?: string | undefined;
  readonly by?: string | undefined;
  readonly createdAt?: string;
}

/** True for an object with the id of a run. */
export function isRunSummary(value: unknown): value is RunSummary {
  return isObject(value) && typeof value.runId === "string";
}

/** The runs that have messages in the list; all runs if none has. */
export function runsAmong(list: readonly Message[], runs: readonly RunSummary[]): RunSummary[] {
  if (runs.length === 0) return [];
  const ids = new Set(list.map((message) => metadataOf(message).runId));
  const found = runs.filter(({ runId }) => ids.has(runId));
  return found.length > 0 ? found : [...runs];
}
