// Processors: middleware around a step. Code after `await next(state)` unwinds, so the first in the list acts last.
import type { AgentState } from "./agent-state.ts";

/** Takes the next step; for the innermost processor that is the model call, the tools and the criteria. */
export type Next = (state: AgentState) => Promise<AgentState>;

/**
 * Middleware around a step.
 *
 * **Contract:** calls `next` once and gives the state it got, or a changed one. What needs the step belongs after
 * `next`: `state.currentStep` is the step, and `state.outcome` says whether the run goes on (undefined) or ended.
 */
export type Processor = (state: AgentState, next: Next) => AgentState | Promise<AgentState>;

/** The processors as one step: the first in the list is the outermost. */
export function chain(processors: readonly Processor[], step: Next): Next {
  return processors.reduceRight<Next>((next, processor) => (state) => apply(processor, state, next), step);
}

// Not an async function: a processor's own promise is handed on as it is, which saves three microtasks.
function apply(processor: Processor, state: AgentState, next: Next): Promise<AgentState> {
  try {
    return Promise.resolve(processor(state, next));
  } catch (error) {
    return Promise.reject(error);
  }
}
