// Sets up a step: asks the agent's functions for the model, the tools and the instructions, once for each step and again on resume.
import { isThenable } from "../../base/thenable.ts";
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { system } from "../../messages/makers.ts";
import { textOf } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { type StepSetup, stepSetup } from "../config/step-setup.ts";
import { outputPreamble } from "../config/structured-output.ts";
import type { StepFunction } from "../ports/agent-options.ts";
import type { Run } from "../run/run.ts";
import type { PromptParts, RunScope } from "../run/run-parts.ts";

/** Makes `run.input` ready for a step: its setup and its instructions. Does nothing if it is ready. */
export async function setUpStep(run: Run, step: number): Promise<void> {
  const { input, agent, identity, scope } = run;
  if (input.setUpFor === step || (input.setUpFor > 0 && !agent.changesBySteps)) return;
  const place = { step, runId: identity.runId, ...scope };
  const resolved = agent.setup ?? (await resolveSetup(agent, place));
  const setup = firstWorking(input, (step > 1 && resolved.later) || resolved);
  input.setup = setup;
  input.modelInput.useModel(setup.model);
  await setInstructions(run, setup, place);
  input.setUpFor = step;
}

// A model that failed is not tried again in the same run, unless it is the last one.
function firstWorking({ failedModels }: Pick<PromptParts, "failedModels">, setup: StepSetup): StepSetup {
  const { next, source } = setup;
  return next !== undefined && failedModels.has(source) ? firstWorking({ failedModels }, next) : setup;
}

/** The step of a run that functions decide about. */
export interface SetupPlace extends Pick<RunScope, "context" | "cancellation"> {
  readonly step: number;
  readonly runId: string;
}

/** The setup that an agent's functions choose. Throws `run-failed` if one fails, or the code of what it returned. */
export async function resolveSetup(agent: AgentConfig, place: SetupPlace): Promise<StepSetup> {
  const { options, driver, output } = agent;
  const model = await resolve(agent, place, { name: "model", given: options.model });
  const tools = await resolve(agent, place, { name: "tools", given: options.tools ?? [] });
  return stepSetup({ options, driver, output }, { model, tools });
}

// The same text keeps the same message, so that the prompt only grows at its end.
async function setInstructions({ agent, input }: Run, { tools }: StepSetup, place: SetupPlace): Promise<void> {
  const { name, driver, output, options } = agent;
  const own = await resolve(agent, place, { name: "instructions", given: options.instructions });
  if (own !== undefined && typeof own !== "string")
    throw new OffstageError(
      "invalid-argument",
      `The instructions of agent "${name}" must be text; found ${typeof own}.`,
    );
  // The agent's own text, then the additions of its driver and its output schema.
  const text = [own, driver.preamble([...tools.values()]), output && outputPreamble(output)]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
  if (text === input.instructions.toArray().map(textOf).join("")) return;
  input.instructions = text === "" ? Messages.empty() : Messages.of(system(text));
}

interface Resolving<Value> {
  readonly name: string;
  readonly given: Value | StepFunction<Value>;
}

async function resolve<Value>(
  agent: AgentConfig,
  { context, cancellation, step, runId }: SetupPlace,
  { name, given }: Resolving<Value>,
): Promise<Value> {
  if (typeof given !== "function") return given;
  try {
    const ask = given as StepFunction<Value>;
    const asked = ask(context, { step, runId, signal: cancellation.signal });
    return isThenable(asked) ? await cancellation.race(asked as Promise<Value>) : (asked as Value);
  } catch (cause) {
    if (cancellation.isAborted || isOffstageError(cause)) throw cause;
    const sentence = `The ${name} function of agent "${agent.name}" failed: ${messageOf(cause)}`;
    throw new OffstageError("run-failed", sentence, { cause });
  }
}
