// The configuration of an agent: its options, checked and completed when it is created. The loop reads nothing else of the agent.
import { isObject, type JsonObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import { adaptModel } from "../../models/adapt-model.ts";
import { withToolNames } from "../../models/call-names.ts";
import type { Model, ModelCallOptions } from "../../models/model.ts";
import { callSettings } from "../../models/model-settings.ts";
import type { InputSetup } from "../../sessions/ports/run-record.ts";
import { errorPolicy } from "../../state/criteria/errors.ts";
import { retryLimit, stepLimit, withAgentPrices } from "../../state/criteria/limits.ts";
import { toolCallPresence } from "../../state/criteria/replies.ts";
import { type Criterion, criterionOf } from "../../state/criterion.ts";
import type { Processor } from "../../state/processor.ts";
import { keepSeparate, keepTogether } from "../../state/processors/index.ts";
import { Pricing } from "../../tokens/cost.ts";
import { type TokenCounter, tokenCounter } from "../../tokens/token-counter.ts";
import { type CompiledSchema, compileSchema } from "../../tools/schema.ts";
import { type Remember, type Tool, toolsByName } from "../../tools/tool.ts";
import { toolCallingDriver } from "../drivers/tool-calling.ts";
import type { AgentOptions } from "../ports/agent-options.ts";
import type { Driver } from "../ports/driver.ts";
import type { GuardrailLists } from "../ports/guardrails.ts";
import { checkAgentOptions } from "./option-rules.ts";
import { ViewNotes } from "./view-notes.ts";

export interface AgentConfig {
  readonly options: AgentOptions<unknown>;
  readonly name: string;
  readonly model: Model;
  readonly driver: Driver;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The options that all model calls share. */
  readonly call: Omit<ModelCallOptions, "prompt" | "abortSignal">;
  /** The same for the record: what a model sees besides its messages. */
  readonly inputSetup: InputSetup;
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
  /** True if the model sees any tool calls of earlier turns. Providers refuse calls in a prompt without tools. */
  readonly remembersTools: boolean;
}

/** Checks and completes the options of an agent. Throws if one is unknown or does not fit. */
export function agentConfig(options: AgentOptions<unknown>): AgentConfig {
  if (!isObject(options))
    throw new OffstageError("invalid-argument", "The agent options are missing. Use new Agent({ model, … }).");
  checkAgentOptions(options);
  const { name = "agent", driver = toolCallingDriver(), tools = [], maxParallelTools = 16 } = options;
  const { toolHistory = "digest" } = options;
  const owner = { name: `the output of agent "${name}"`, code: "invalid-argument" } as const;
  const output = options.output === undefined ? undefined : compileSchema(options.output, owner);
  const byName = toolsByName(tools);
  const model = withToolNames(adaptModel(options.model), [...byName.keys()]);
  const call = callOptions(options, driver, output);
  return {
    options,
    name,
    model,
    driver,
    tools: byName,
    output,
    call,
    inputSetup: setupOf(model, call),
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
    remembersTools: tools.some(({ remember = toolHistory }) => remember !== "none"),
  };
}

function callOptions(
  options: AgentOptions<unknown>,
  driver: Driver,
  output: CompiledSchema | undefined,
): AgentConfig["call"] {
  const tools = driver.modelTools(options.tools ?? []);
  return {
    ...callSettings(driver.settings, options.modelSettings),
    ...(tools !== undefined && { tools }),
    ...(output !== undefined && { responseFormat: { type: "json" as const, schema: output.jsonSchema } }),
  };
}

// Headers may hold keys, so they are never recorded.
function setupOf({ modelId, provider }: Model, call: AgentConfig["call"]): InputSetup {
  const { tools = [], headers: _, ...settings } = call;
  return {
    modelId,
    provider,
    tools: tools as unknown as InputSetup["tools"],
    settings: settings as unknown as JsonObject,
  };
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
