// Processors: middleware around a step. Code after `await next(state)` unwinds, so the first in the list acts last.
import type { AgentState } from "./agent-state.ts";

/** Takes the next step. For the innermost processor this is the model call, the tools and the criteria. */
export type Next = (state: AgentState) => Promise<AgentState>;

/**
 * Middleware around a step.
 *
 * **Contract:** calls `next` once and returns the state it resolves to, or one made from it. Code that needs the step
 * belongs after `next`: `state.currentStep` is the step, and `state.outcome` says how the run ended, or is undefined if
 * the run continues.
 */
export type Processor = (state: AgentState, next: Next) => AgentState | Promise<AgentState>;

/** Wraps a step in processors. The first in the list is the outermost. */
export function chain(processors: readonly Processor[], step: Next): Next {
  return processors.reduceRight<Next>((next, processor) => async (state) => await processor(state, next), step);
}
