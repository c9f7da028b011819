// Empties the execution buffer at the end of a run. A run that waits for approval keeps it.
import { AgentState } from "../agent-state.ts";
import type { Processor } from "../processor.ts";

/** After the step that completes or stops the run, the execution buffer is empty. A failed run keeps it for inspection. */
export const clearExecutionBuffer: Processor = async (state, next) => {
  const after = await next(state);
  const status = after.outcome?.status;
  if (status !== "completed" && status !== "stopped") return after;
  return after.executionBuffer.isEmpty ? after : after.withSection(AgentState.EXECUTION_BUFFER_SECTION, []);
};
