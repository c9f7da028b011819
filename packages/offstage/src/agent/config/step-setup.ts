// The setup of a step: its model and its tools. One for all steps of an agent, unless `model` or `tools` is a function.
import type { JsonObject } from "../../base/json.ts";
import { adaptModel } from "../../models/adapt-model.ts";
import { withToolNames } from "../../models/call-names.ts";
import type { AnyModel, HostedModelTool, Model, ModelCallOptions, ModelTool } from "../../models/model.ts";
import { callSettings } from "../../models/model-settings.ts";
import type { InputSetup } from "../../sessions/ports/run-record.ts";
import { recordedTool } from "../../tools/hosted-tool.ts";
import type { CompiledSchema } from "../../tools/schema.ts";
import { splitTools, type Tool } from "../../tools/tool.ts";
import type { AgentOptions, AgentTool } from "../ports/agent-options.ts";
import type { Driver } from "../ports/driver.ts";

export interface StepSetup {
  readonly model: Model;
  /** The tools that run here, by name. Hosted tools are only in `call`. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The options of the model call, beside its prompt. */
  readonly call: Omit<ModelCallOptions, "prompt" | "abortSignal">;
  /** The same for the record: what a model sees besides its messages. */
  readonly recorded: InputSetup;
}

/** The parts of an agent that its setups have in common. */
export interface SetupParts {
  readonly options: AgentOptions<unknown>;
  readonly driver: Driver;
  readonly output: CompiledSchema | undefined;
}

/** The setup with this model and these tools. Throws if one of them is not valid. */
export function stepSetup(parts: SetupParts, given: { model: AnyModel; tools: readonly AgentTool[] }): StepSetup {
  const { tools, hosted } = splitTools(given.tools);
  const model = withToolNames(adaptModel(given.model), [...tools.keys()]);
  const call = callOptions(parts, [...tools.values()], hosted);
  return { model, tools, call, recorded: recordedSetup(model, call) };
}

function callOptions(
  { options, driver, output }: SetupParts,
  tools: readonly Tool[],
  hosted: readonly HostedModelTool[],
): StepSetup["call"] {
  const all = [...(driver.modelTools(tools) ?? []), ...hosted];
  return {
    ...callSettings(driver.settings, options.modelSettings),
    ...(all.length > 0 && { tools: all }),
    ...(output !== undefined && { responseFormat: { type: "json" as const, schema: output.jsonSchema } }),
  };
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
