// Asks an agent's guardrails during a run, and records every trip.
import type { Outcome } from "../../state/outcome.ts";
import {
  checkGuardrails,
  type Guardrail,
  type GuardrailLists,
  type Guardrails,
  type GuardrailTrip,
} from "../ports/guardrails.ts";
import type { Run } from "./run.ts";

type Subject<Stage extends keyof Guardrails> = Parameters<GuardrailLists[Stage][number]["check"]>[0];

/** The step and the tool call that a guardrail is asked about. */
export interface GuardPlace {
  readonly step?: number;
  readonly toolCallId?: string;
}

/** Asks the guardrails of one stage about a subject. Records and returns the trips. */
export async function guard<Stage extends keyof Guardrails>(
  run: Run,
  stage: Stage,
  { subject, step, toolCallId }: GuardPlace & { readonly subject: Subject<Stage> },
): Promise<readonly GuardrailTrip[]> {
  const guardrails = run.agent.guardrails[stage] as readonly Guardrail<Subject<Stage>>[];
  if (guardrails.length === 0) return [];
  const { context, cancellation } = run.scope;
  const about = { stage, context, signal: cancellation.signal, runId: run.identity.runId, agent: run.agent.name };
  const found = await checkGuardrails(guardrails, subject, about);
  const trips = toolCallId === undefined ? found : found.map((trip) => ({ ...trip, toolCallId }));
  for (const trip of trips) run.record.trip(trip, step);
  return trips;
}

/** The outcome of a run that guardrails blocked; undefined if there is no trip. */
export function blockedOutcome([trip]: readonly GuardrailTrip[]): Outcome | undefined {
  return trip && { status: "stopped", reason: "guardrail", message: trip.message };
}
