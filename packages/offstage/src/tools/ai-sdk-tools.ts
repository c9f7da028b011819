// Tools of the AI SDK as they are. Their shape is declared here, so the package is not needed.
import { isObject } from "../base/json.ts";
import { isThenable } from "../base/thenable.ts";
import { OffstageError } from "../errors.ts";
import type { ContentPart } from "../messages/message.ts";
import { audio, type FileSource, file, image, text } from "../messages/parts.ts";
import { type HostedTool, hostedModelTool, isHosted } from "./hosted-tool.ts";
import { isAsyncIterable } from "./json-safe.ts";
import type { AnySchema } from "./schema.ts";
import { type Tool, type ToolRunOptions, tool } from "./tool.ts";
import { ToolAnswer } from "./tool-answer.ts";

/** A tool made with `tool()` of the AI SDK or by a provider's package. */
export interface AiSdkTool {
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly args?: object | undefined;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the input has the type of the tool's own schema
  readonly execute?: ((input: any, options: any) => unknown) | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly needsApproval?: boolean | ((input: any, options: any) => unknown) | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly toModelOutput?: ((options: any) => unknown) | undefined;
}

/** The tools, named by their keys. Those that a provider runs stay hosted tools. Throws `invalid-tool` if one cannot run here. */
export function fromAiSdkTools(tools: Readonly<Record<string, AiSdkTool>>): (Tool | HostedTool)[] {
  return Object.entries(tools).map(([name, each]) => {
    if (isHosted(each)) return { ...hostedModelTool(each), name };
    const { execute, type, id = "", args } = isObject(each) ? (each as AiSdkTool) : ({} as AiSdkTool);
    if (typeof execute !== "function")
      throw invalid(`The AI SDK tool "${name}" has no execute function, so it cannot run here. Add one.`);
    const made = toolOf(name, each);
    return type === "provider"
      ? Object.freeze({ ...made, hosted: { ...hostedModelTool({ type, id, args }), name } })
      : made;
  });
}

function toolOf(name: string, given: AiSdkTool): Tool {
  const { description, needsApproval = false } = given;
  return tool({
    name,
    description: typeof description === "string" ? description : undefined,
    input: schemaOf(name, given.inputSchema),
    needsApproval:
      typeof needsApproval === "function"
        ? async (input, options) => (await needsApproval(input, optionsOf(options))) !== false
        : needsApproval,
    async execute(input, options) {
      const output = await outputOf(given.execute?.(input, optionsOf(options)), options);
      if (given.toModelOutput === undefined) return output;
      return shownOutput(await given.toModelOutput({ toolCallId: options.toolCallId, input, output }));
    },
  });
}

// The messages of the prompt are not passed on: they are the run's own business.
function optionsOf({ toolCallId, signal, context }: ToolRunOptions): object {
  const values = context.toJSON();
  return { toolCallId, messages: [], abortSignal: signal, context: values, experimental_context: values };
}

// A tool that yields shows preliminary results. The last one counts.
async function outputOf(made: unknown, { progress }: ToolRunOptions): Promise<unknown> {
  const output = await made;
  if (!isAsyncIterable(output)) return output;
  let last: unknown;
  for await (const each of output) {
    last = each;
    progress(each);
  }
  return last;
}

// A Standard Schema, a schema of the AI SDK, or a function that returns one of them.
function schemaOf(name: string, given: unknown): AnySchema | undefined {
  if (typeof given === "function" && !("~standard" in given)) return schemaOf(name, given());
  if (!isObject(given) || "~standard" in given) return given as AnySchema | undefined;
  const { jsonSchema, validate } = given;
  if (isThenable(jsonSchema))
    throw invalid(`The schema of the AI SDK tool "${name}" is a promise. Await it, and pass it to jsonSchema().`);
  if (!isObject(jsonSchema)) return given as AnySchema;
  if (typeof validate !== "function") return { jsonSchema };
  return { jsonSchema, validate: async (value) => validValue(await validate(value)) };
}

function validValue(checked: unknown): unknown {
  const { success, value, error } = checked as { success: boolean; value?: unknown; error?: unknown };
  if (success) return value;
  throw error;
}

// The forms in which `toModelOutput` describes a result.
function shownOutput(output: unknown): unknown {
  const { type, value, reason } = (output ?? {}) as Record<string, unknown>;
  if (type === "text" || type === "json") return value;
  if (type === "content" && Array.isArray(value)) return value.map(partOf);
  if (type === "error-text") return new ToolAnswer(String(value), { isError: true });
  if (type === "error-json") return new ToolAnswer(JSON.stringify(value), { value, isError: true });
  if (type === "execution-denied")
    return new ToolAnswer(String(reason ?? "Tool call execution denied."), { isError: true });
  return output;
}

function partOf(part: Record<string, unknown>): ContentPart {
  if (part.type === "text") return text(String(part.text));
  const source = sourceOf(part.data ?? part.url);
  const mediaType = typeof part.mediaType === "string" ? part.mediaType : kinds[String(part.type)];
  if (source === undefined || mediaType === undefined) return text(JSON.stringify(part));
  if (/^image(?:\/|$)/.test(mediaType)) return image(source, mediaType === "image" ? "image/*" : mediaType);
  if (mediaType.startsWith("audio/") && !(source instanceof URL)) return audio(source, mediaType);
  return file(source, mediaType, { filename: typeof part.filename === "string" ? part.filename : undefined });
}

// Earlier versions name the kind, not the type.
const kinds: Readonly<Record<string, string>> = { "image-url": "image/*", "image-data": "image/*" };

function sourceOf(data: unknown): FileSource | undefined {
  if (typeof data === "string" || data instanceof URL || data instanceof Uint8Array) return data;
  if (!isObject(data)) return undefined;
  if (data.type === "text") return Buffer.from(String(data.text));
  return data.type === "data" || data.type === "url" ? sourceOf(data.data ?? data.url) : undefined;
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-tool", message);
}
