// The setup of a step: its model and its tools. One for all steps of an agent, unless `model` or `tools` is a function.
import type { JsonObject } from "../../base/json.ts";
import { adaptModel } from "../../models/adapt-model.ts";
import { withToolNames } from "../../models/call-names.ts";
import { modelsOf } from "../../models/fallback-model.ts";
import type { AnyModel, HostedModelTool, Model, ModelCallOptions, ModelTool } from "../../models/model.ts";
import { callSettings, forcesCall } from "../../models/model-settings.ts";
import { type ProviderRules, rulesOf } from "../../models/provider-rules.ts";
import type { InputSetup } from "../../sessions/ports/run-record.ts";
import { recordedTool } from "../../tools/hosted-tool.ts";
import type { CompiledSchema } from "../../tools/schema.ts";
import { splitTools, type Tool } from "../../tools/tool.ts";
import type { AgentOptions, AgentTool } from "../ports/agent-options.ts";
import type { Driver } from "../ports/driver.ts";

export interface StepSetup {
  readonly model: Model;
  /** The model as it was passed in. */
  readonly source: AnyModel;
  /** The rules of its provider. */
  readonly rules: ProviderRules;
  /** The tools that run here, by name. Hosted tools are only in `call`. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The options of the model call, beside its prompt. */
  readonly call: Omit<ModelCallOptions, "prompt" | "abortSignal">;
  /** The same for the record: what a model sees besides its messages. */
  readonly recorded: InputSetup;
  /** The same for the span of a call: the settings that telemetry has names for. */
  readonly spanMetadata: JsonObject;
  /** The setup of all steps but the first, if it is another one. */
  readonly later?: StepSetup | undefined;
  /** The setup with the next of several models, for when this one fails. */
  readonly next?: StepSetup | undefined;
}

/** The parts of an agent that its setups have in common. */
export interface SetupParts {
  readonly options: AgentOptions<unknown>;
  readonly driver: Driver | undefined;
  readonly output: CompiledSchema | undefined;
}

/** The setup with this model and these tools. Throws if one of them is not valid. */
export function stepSetup(parts: SetupParts, given: { model: AnyModel; tools: readonly AgentTool[] }): StepSetup {
  const { tools, hosted } = splitTools(given.tools);
  const first = callOptions(parts, [...tools.values()], hosted);
  const { toolChoice, ...later } = first;
  const isForcedOnce = forcesCall(toolChoice) && parts.options.modelSettings?.toolChoiceOn !== "every-step";
  const setupOf = (source: AnyModel, next: StepSetup | undefined): StepSetup => {
    const model = withToolNames(adaptModel(source), [...tools.keys()]);
    const rules = rulesOf(model.provider);
    const setupWith = (call: StepSetup["call"], following: StepSetup | undefined): StepSetup => ({
      ...{ model, source, rules, tools, call, next: following },
      recorded: recordedSetup(model, call),
      spanMetadata: spanMetadata(model, call),
    });
    const setup = setupWith(first, next);
    return isForcedOnce ? { ...setup, later: setupWith(later, next?.later) } : setup;
  };
  const [last, ...before] = modelsOf(given.model).toReversed();
  return before.reduce((next, source) => setupOf(source, next), setupOf(last as AnyModel, undefined));
}

function callOptions(
  { options, driver, output }: SetupParts,
  tools: readonly Tool[],
  hosted: readonly HostedModelTool[],
): StepSetup["call"] {
  const own = driver === undefined ? tools.map(modelTool) : (driver.modelTools(tools) ?? []);
  const all = [...own, ...hosted];
  return {
    ...callSettings(driver?.settings, options.modelSettings),
    ...(all.length > 0 && { tools: all }),
    ...(output !== undefined && { responseFormat: { type: "json" as const, schema: output.jsonSchema } }),
  };
}

function modelTool({ name, description, schema, hosted }: Tool): ModelTool | HostedModelTool {
  if (hosted !== undefined) return hosted;
  const base: ModelTool = { type: "function", name, inputSchema: schema.jsonSchema };
  return description === undefined ? base : { ...base, description };
}

// Headers may hold keys, so they are never recorded.
function recordedSetup({ modelId, provider }: Model, call: StepSetup["call"]): InputSetup {
  const { tools = [], headers: _, ...settings } = call;
  return {
    modelId,
    provider,
    tools: tools.map(recordedModelTool) as unknown as InputSetup["tools"],
    settings: settings as unknown as JsonObject,
  };
}

function recordedModelTool(tool: ModelTool | HostedModelTool): object {
  return tool.type === "provider" ? recordedTool(tool) : tool;
}

function spanMetadata({ modelId, provider }: Model, call: StepSetup["call"]): JsonObject {
  const { temperature, maxOutputTokens, topP, topK, seed, presencePenalty, frequencyPenalty } = call;
  const { stopSequences, responseFormat } = call;
  const given = { temperature, maxOutputTokens, topP, topK, seed, presencePenalty, frequencyPenalty, stopSequences };
  return {
    provider,
    model: modelId,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(responseFormat?.type === "json" && { outputType: "json" }),
  };
}
