// Changes of the state after a step: they decide which section its messages join. The loop applies those of the agent's mode; each is also a
// processor of its own.
import { AgentState } from "../agent-state.ts";
import type { Processor } from "../processor.ts";
import type { Step } from "../step.ts";
import { joinedOf, turnOf } from "../turn-of.ts";

/** Changes the state after a step. */
type StepChange = (after: AgentState, step: Step) => AgentState;

const appendAll: StepChange = (after, step) => after.withMessages(after.messages.append(step.messages));

const appendTurn: StepChange = (after) => {
  const { status } = after.outcome ?? {};
  const joined = status === "completed" || status === "stopped" ? joinedOf(after) : [];
  return after.withMessages(after.messages.append([...joined, ...turnOf(after)]));
};

const bufferTrace: StepChange = (after, step) =>
  step.isAnswer
    ? after
    : after.withSection(AgentState.EXECUTION_BUFFER_SECTION, after.executionBuffer.append(step.messages));

// A run that failed or waits for approval keeps its buffer, for inspection or resume.
function clearBuffer(after: AgentState): AgentState {
  const status = after.outcome?.status;
  if (status !== "completed" && status !== "stopped") return after;
  return after.executionBuffer.isEmpty ? after : after.withSection(AgentState.EXECUTION_BUFFER_SECTION, []);
}

/** The mode without a separate tool trace: everything joins the conversation. */
export const keepTogether: StepChange = appendAll;

/** The other mode: the tool trace is in the buffer while the run continues, and only the answer joins the conversation. */
export const keepSeparate: StepChange = (after, step) => clearBuffer(appendTurn(bufferTrace(after, step), step));

function afterStep(change: StepChange): Processor {
  return async (state, next) => {
    const after = await next(state);
    const step = after.currentStep;
    return step === undefined || step === state.currentStep ? after : change(after, step);
  };
}

/** After a step, all its messages are in `messages`. */
export const appendStepMessages: Processor = afterStep(appendAll);

/** After the step that ends the run, its answer is in `messages`; after any other step nothing is appended. */
export const appendFinalResponse: Processor = afterStep(appendTurn);

/** After a step that is not an answer, its messages are in the execution buffer: the model sees them, and they are never stored. */
export const appendToolTraceToBuffer: Processor = afterStep(bufferTrace);

/** After the step that completes or stops the run, the execution buffer is empty. A failed run keeps it for inspection. */
export const clearExecutionBuffer: Processor = async (state, next) => clearBuffer(await next(state));
