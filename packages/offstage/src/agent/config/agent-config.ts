// The configuration of an agent: its options, checked and completed when it is created. The loop reads nothing else of the agent.
import { isObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import { errorPolicy } from "../../state/criteria/errors.ts";
import { withAgentPrices } from "../../state/criteria/limits.ts";
import { type Criterion, criterionOf, retryLimit, stepLimit, toolCallPresence } from "../../state/criterion.ts";
import type { Processor } from "../../state/processor.ts";
import { keepSeparate, keepTogether } from "../../state/turn-of.ts";
import { type TokenCounter, tokenCounter } from "../../tokens/token-counter.ts";
import { Pricing } from "../../tokens/usage.ts";
import { type CompiledSchema, compileSchema } from "../../tools/schema.ts";
import type { Remember } from "../../tools/tool.ts";
import type { AgentOptions } from "../ports/agent-options.ts";
import type { Driver } from "../ports/driver.ts";
import type { GuardrailLists } from "../ports/guardrails.ts";
import { checkAgentOptions } from "./option-rules.ts";
import { type SetupParts, type StepSetup, stepSetup } from "./step-setup.ts";
import { ViewNotes } from "./view-notes.ts";

export interface AgentConfig {
  readonly options: AgentOptions<unknown>;
  readonly name: string;
  /** Undefined for the model's own tool calling. */
  readonly driver: Driver | undefined;
  /** The setup of all steps; undefined if functions choose the model or the tools of each step. */
  readonly setup: StepSetup | undefined;
  /** True if the setup or the instructions may differ from step to step. */
  readonly changesBySteps: boolean;
  readonly processors: readonly Processor[];
  /** Appends the messages of a step to the state, together with the conversation or separate from it. */
  readonly keepMessages: typeof keepTogether;
  readonly criteria: readonly Criterion[];
  readonly guardrails: GuardrailLists;
  readonly output: CompiledSchema | undefined;
  readonly maxParallelTools: number;
  /** How the model last saw each conversation. Kept between runs. */
  readonly viewNotes: ViewNotes;
  readonly tokenCounter: TokenCounter;
  readonly pricing: Pricing;
  /** True if memory or compaction choose what the model sees. */
  readonly isShortened: boolean;
  /** How much the model sees of the tool calls of earlier turns, unless a tool says otherwise. */
  readonly toolHistory: Remember;
}

/** Checks and completes the options of an agent. Throws if one is unknown or does not fit. */
export function agentConfig(options: AgentOptions<unknown>): AgentConfig {
  if (!isObject(options))
    throw new OffstageError("invalid-argument", "The agent options are missing. Use new Agent({ model, … }).");
  checkAgentOptions(options);
  const { name = "agent", driver, maxParallelTools = 16, toolHistory = "digest" } = options;
  const owner = { name: `the output of agent "${name}"`, code: "invalid-argument" } as const;
  const output = options.output === undefined ? undefined : compileSchema(options.output, owner);
  const setup = fixedSetup({ options, driver, output });
  return {
    options,
    name,
    driver,
    output,
    setup,
    changesBySteps: setup === undefined || setup.later !== undefined || typeof options.instructions === "function",
    processors: options.processors ?? [],
    keepMessages: options.separateToolTrace ? keepSeparate : keepTogether,
    criteria: criteriaOf(options),
    guardrails: guardrailsOf(options),
    maxParallelTools,
    viewNotes: new ViewNotes(),
    tokenCounter: tokenCounter(options.tokenCounter),
    pricing: new Pricing(options.prices),
    isShortened: options.compaction !== undefined || options.memory !== undefined,
    toolHistory,
  };
}

function fixedSetup(parts: SetupParts): StepSetup | undefined {
  const { model, tools = [] } = parts.options;
  if (typeof model === "function" && "languageModel" in model)
    throw new OffstageError(
      "unsupported-model",
      '"model" is a provider. Call it with the id of a model, for instance openai("gpt-5").',
    );
  return typeof model === "function" || typeof tools === "function" ? undefined : stepSetup(parts, { model, tools });
}

// A criterion in `stopWhen` replaces the default one of the same name.
function criteriaOf(options: AgentOptions<unknown>): readonly Criterion[] {
  const { stopWhen = [], maxSteps = 20, outputRetries = 2, errorPolicy: policy = "continue", prices } = options;
  const own = [stopWhen].flat().map((each) => withAgentPrices(criterionOf(each as Criterion), prices));
  const names = new Set(own.map((each) => each.name));
  const defaults = [stepLimit(maxSteps), toolCallPresence(), retryLimit(outputRetries)];
  if (policy !== "continue") defaults.push(errorPolicy(policy));
  return [...defaults.filter((each) => !names.has(each.name)), ...own];
}

function guardrailsOf(options: AgentOptions<unknown>): GuardrailLists {
  return {
    input: options.inputGuardrails ?? [],
    output: options.outputGuardrails ?? [],
    toolInput: options.toolInputGuardrails ?? [],
    toolOutput: options.toolOutputGuardrails ?? [],
  };
}
