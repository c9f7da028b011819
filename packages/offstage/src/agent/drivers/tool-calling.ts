// The default driver, for models with tool calling.
import type { HostedModelTool, ModelTool } from "../../models/model.ts";
import { promptMessage } from "../../models/prompt.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Driver } from "../ports/driver.ts";

/** Uses the provider's own tool calling. Replies need no parsing. */
export function toolCallingDriver(): Driver {
  return {
    name: "tool-calling",
    preamble: () => undefined,
    modelTools: (tools) => (tools.length === 0 ? undefined : tools.map(modelTool)),
    toPrompt: promptMessage,
    read: ({ text, calls }) => ({ text, calls }),
  };
}

function modelTool({ name, description, schema, hosted }: Tool): ModelTool | HostedModelTool {
  if (hosted !== undefined) return hosted;
  const base: ModelTool = { type: "function", name, inputSchema: schema.jsonSchema };
  return description === undefined ? base : { ...base, description };
}
