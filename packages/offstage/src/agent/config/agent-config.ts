// An agent's options, checked and completed once, when it is made. The loop reads this and nothing else of the agent.

import { isObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import { adaptModel } from "../../models/adapt-model.ts";
import type { Model, ModelCallOptions } from "../../models/model.ts";
import { callSettings } from "../../models/model-settings.ts";
import { errorPolicy } from "../../state/criteria/errors.ts";
import { retryLimit, stepLimit } from "../../state/criteria/limits.ts";
import { toolCallPresence } from "../../state/criteria/replies.ts";
import { type Criterion, criterionOf } from "../../state/criterion.ts";
import type { Processor } from "../../state/processor.ts";
import { separatedProcessors, togetherProcessors } from "../../state/processors/index.ts";
import { type TokenCounter, tokenCounter } from "../../tokens/token-counter.ts";
import { type CompiledSchema, compileSchema } from "../../tools/schema.ts";
import { type Tool, toolsByName } from "../../tools/tool.ts";
import { toolCallingDriver } from "../drivers/tool-calling.ts";
import type { AgentOptions } from "../ports/agent-options.ts";
import type { Driver } from "../ports/driver.ts";
import type { GuardrailLists } from "../ports/guardrails.ts";
import { checkAgentOptions } from "./option-rules.ts";
import { ShownNotes } from "./shown-notes.ts";

export interface AgentConfig {
  readonly options: AgentOptions<unknown>;
  readonly name: string;
  readonly model: Model;
  readonly driver: Driver;
  readonly tools: ReadonlyMap<string, Tool>;
  /** What every model call has in common. */
  readonly call: Omit<ModelCallOptions, "prompt" | "abortSignal">;
  readonly processors: readonly Processor[];
  readonly criteria: readonly Criterion[];
  readonly guardrails: GuardrailLists;
  readonly output: CompiledSchema | undefined;
  readonly maxParallelTools: number;
  /** What it remembers of showing its conversations, between runs. */
  readonly shownNotes: ShownNotes;
  readonly tokenCounter: TokenCounter;
  /** Whether memory or compaction choose what the model sees. */
  readonly isShortened: boolean;
  /** Whether later turns are shown anything of earlier turns' tools. */
  readonly remembersTools: boolean;
}

/** The configuration of these options; throws where they do not fit. */
export function agentConfig(options: AgentOptions<unknown>): AgentConfig {
  if (!isObject(options)) throw invalid("An agent is made from options: new Agent({ model, … }).");
  const { name = "agent", driver = toolCallingDriver(), tools = [], maxParallelTools = 16 } = options;
  checkAgentOptions(options);
  const owner = { name: `the output of agent "${name}"`, code: "invalid-argument" } as const;
  const output = options.output === undefined ? undefined : compileSchema(options.output, owner);
  const model = adaptModel(options.model);
  const speaker = { name, driver, tools: toolsByName(tools), output };
  const { toolHistory = "none" } = options;
  return {
    ...speaker,
    options,
    model,
    call: callOptions(options, driver, output),
    processors: [
      ...(options.processors ?? []),
      ...(options.separateToolTrace ? separatedProcessors : togetherProcessors),
    ],
    criteria: criteriaOf(options),
    guardrails: guardrailsOf(options),
    maxParallelTools,
    shownNotes: new ShownNotes(),
    tokenCounter: tokenCounter(options.tokenCounter),
    isShortened: options.compaction !== undefined || options.memory !== undefined,
    remembersTools: toolHistory !== "none" || tools.some(({ remember = "none" }) => remember !== "none"),
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
    ...(tools === undefined ? undefined : { tools }),
    ...(output === undefined ? undefined : { responseFormat: { type: "json" as const, schema: output.jsonSchema } }),
  };
}

// A criterion of the user's replaces a default one of the same name.
function criteriaOf(options: AgentOptions<unknown>): readonly Criterion[] {
  const { stopWhen = [], maxSteps = 20, outputRetries = 2, errorPolicy: policy = "continue" } = options;
  const own = [stopWhen].flat().map((each) => criterionOf(each as Criterion));
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

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
