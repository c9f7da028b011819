// Hosted tools: the model's provider runs them itself, such as web search. Offstage passes them on; their calls and results stay parts
// of the assistant's message.
import { isObject, type JsonObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { HostedModelTool } from "../models/model.ts";

/** A tool of a provider as its package makes it, `openai.tools.webSearch()`, or `{ type: "provider", id, name, args }`. */
export interface HostedTool {
  readonly type: "provider";
  /** `<provider>.<tool>`, such as "openai.web_search". */
  readonly id: string;
  /** Default: the id behind the dot. */
  readonly name?: string | undefined;
  readonly args?: object | undefined;
}

/** True for a tool that a provider runs. One of a provider's package that you run yourself is not: see `fromAiSdkTools`. */
export function isHosted(tool: unknown): tool is HostedTool {
  return isObject(tool) && tool.type === "provider" && typeof tool.execute !== "function";
}

/** The form in which a model gets it. Throws `invalid-tool` if it has no id. */
export function hostedModelTool({ id, name, args = {} }: HostedTool): HostedModelTool {
  const isId = (value: unknown): value is HostedModelTool["id"] => typeof value === "string" && /^.+\..+$/.test(value);
  if (!isId(id)) throw invalid(`A provider's tool needs an id such as "openai.web_search"; found ${shownValue(id)}.`);
  if (!isObject(args))
    throw invalid(`"args" of the provider's tool "${id}" must be an object; found ${shownValue(args)}.`);
  return { type: "provider", id, name: name ?? id.slice(id.indexOf(".") + 1), args };
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-tool", message);
}

const telemetryRedaction = Symbol.for("vercel.ai.telemetry.redact");

/** The tool for the record: without secrets, as its package marks them, and without headers. */
export function recordedTool(tool: HostedModelTool): JsonObject {
  const { authorization: _, headers: __, ...args } = redactedArgs(tool.args);
  return { ...tool, args: JSON.parse(JSON.stringify(args)) as JsonObject };
}

function redactedArgs(args: HostedModelTool["args"]): Record<string, unknown> {
  const redact = (args as { [telemetryRedaction]?: unknown })[telemetryRedaction];
  if (typeof redact !== "function") return args;
  try {
    const redacted: unknown = redact(args);
    return isObject(redacted) ? redacted : {};
  } catch {
    return {};
  }
}
