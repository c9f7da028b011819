// Empties the execution buffer when the run has come to its end. A run that waits for approval keeps it.
import { AgentState } from "../agent-state.ts";
import type { Processor } from "../processor.ts";

/** After the step that completes or stops the run, the execution buffer is empty; after a failure it stays, to be looked at. */
export const clearExecutionBuffer: Processor = (state, next) =>
  next(state).then((after) => {
    const status = after.outcome?.status;
    if (status !== "completed" && status !== "stopped") return after;
    return after.executionBuffer.isEmpty ? after : after.withSection(AgentState.EXECUTION_BUFFER_SECTION, []);
  });
