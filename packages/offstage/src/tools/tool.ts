// A tool: a name, a schema and a function. Defining one checks it; run-tool.ts runs its calls.
import {
  anything,
  checkOptions,
  type OptionHints,
  type OptionRules,
  oneOf,
  positiveNumber,
  shownValue,
  yesOrNo,
} from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { HostedModelTool } from "../models/model.ts";
import type { AnyValues, ContextOf } from "../state/agent-context.ts";
import type { Ask, EarlierQuestion } from "./ask.ts";
import { type HostedTool, hostedModelTool, isHosted } from "./hosted-tool.ts";
import { type AnySchema, type CompiledSchema, compileSchema, type OutputOf } from "./schema.ts";

/** The second argument of a tool's `execute`. */
export interface ToolRunOptions<Values extends object = Record<string, unknown>> {
  /** Aborts when the run does, or when the tool's time is up. */
  readonly signal: AbortSignal;
  /** The run's shared key-value state. */
  readonly context: ContextOf<Values>;
  readonly toolCallId: string;
  readonly runId: string;
  /** From 1. */
  readonly step: number;
  /** The name of the agent that called. */
  readonly agent: string;
  /** Asks a person, and pauses the run until there is an answer. The tool then runs again from its start. */
  readonly ask: Ask;
  /** The questions that this call asked before it was run again, oldest first. Empty when it runs for the first time. */
  readonly asked: readonly EarlierQuestion[];
  /** Tells listeners how far the tool is, in a `tool-progress` event. The model does not see it, and it is not recorded. */
  progress(value: unknown): void;
}

/** How much of a tool's results later turns see; see `toolHistory`. */
export type Remember = "none" | "digest" | "full";

/** The type of a tool's input. Without a schema it is only known to be an object. */
export type InputOf<Schema> = Schema extends undefined ? object : OutputOf<Schema>;

export interface ToolOptions<Schema, Values extends object> {
  /** The name that the model uses: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly description?: string | undefined;
  /** A Standard Schema, JSON Schema, or `{ jsonSchema, validate }`. Default: no input. */
  readonly input?: Schema | undefined;
  /** Does the work. May return anything. If it throws, the model is told. */
  execute(input: InputOf<Schema>, options: ToolRunOptions<Values>): unknown;
  /** After this time the call is answered with an error, and its signal aborts. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** The run pauses until the call is approved. Default false. */
  readonly needsApproval?:
    | boolean
    | ((input: InputOf<Schema>, options: ToolRunOptions<Values>) => boolean | Promise<boolean>)
    | undefined;
  /** Safe to run again after a crash. Default false. */
  readonly idempotent?: boolean | undefined;
  /** Overrides the agent's `toolHistory` for this tool. */
  readonly remember?: Remember | undefined;
  /** A longer result is clipped for the model. Default 64 KiB. */
  readonly maxResultBytes?: number | undefined;
}

/** A defined tool. Make one with `tool()`. `Values` is the context that it needs; without one, it works in every agent. */
export interface Tool<Values extends object = AnyValues> {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: CompiledSchema;
  // biome-ignore lint/suspicious/noExplicitAny: the schema guarantees the input's type at run time
  execute(input: any, options: ToolRunOptions<any>): unknown;
  readonly timeoutMs: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly needsApproval: boolean | ((input: any, options: ToolRunOptions<any>) => boolean | Promise<boolean>);
  readonly idempotent: boolean;
  readonly remember: Remember | undefined;
  readonly maxResultBytes: number;
  /** True if the tool is an agent; see `agent.asTool`. */
  readonly isSubagent: boolean;
  /** A tool that a provider defines and you run: the form in which the model gets it. */
  readonly hosted?: HostedModelTool;
  /** Only a type: an agent whose context lacks these values does not take the tool. */
  readonly needsContext?: (values: Values) => void;
}

const toolRules: OptionRules = {
  name: anything,
  description: { isFit: (value) => typeof value === "string", words: "text" },
  input: anything,
  execute: anything,
  timeoutMs: positiveNumber,
  needsApproval: {
    isFit: (value) => typeof value === "boolean" || typeof value === "function",
    words: "true, false or a function",
  },
  idempotent: yesOrNo,
  remember: oneOf("none", "digest", "full"),
  maxResultBytes: positiveNumber,
};

const toolHints: OptionHints = {
  parameters: '"input"',
  inputSchema: '"input"',
  schema: '"input"',
  timeout: '"timeoutMs"',
  needApproval: '"needsApproval"',
};

const noInput = { type: "object", properties: {} };

/** Defines a tool for agents. Throws `invalid-argument` at a wrong option, and `invalid-tool` at a wrong name or schema. */
export function tool<Schema extends AnySchema | undefined = undefined, Values extends object = Record<string, unknown>>(
  options: ToolOptions<Schema, Values>,
): Tool<Record<string, unknown> extends Values ? AnyValues : Values> {
  checkOptions(options, toolRules, "tool", toolHints);
  const { name, description, input = noInput, timeoutMs, maxResultBytes = 64 * 1024 } = options;
  checkName(name);
  if (typeof options.execute !== "function") throw invalid(`The tool "${name}" needs an execute function.`);
  const schema = compileSchema(input, { name: `the tool "${name}"`, code: "invalid-tool" });
  const { type } = schema.jsonSchema;
  if (typeof type === "string" && type !== "object")
    throw invalid(`The input of the tool "${name}" must be an object; its schema says ${type}. Put it in a property.`);
  return Object.freeze({
    name,
    description,
    schema,
    execute: options.execute.bind(options),
    timeoutMs,
    needsApproval: options.needsApproval ?? false,
    idempotent: options.idempotent ?? false,
    remember: options.remember,
    maxResultBytes,
    isSubagent: false,
  });
}

function checkName(name: unknown): void {
  if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw invalid(`A tool's name must be 1 to 64 letters, digits, "_" or "-"; found ${shownValue(name)}.`);
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-tool", message);
}

export interface SplitTools {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly hosted: readonly HostedModelTool[];
}

/** The tools by name, and those that the provider runs. Throws `invalid-tool` if two have the same name or a value is not a tool. */
export function splitTools(given: readonly (Tool | HostedTool)[]): SplitTools {
  if (!Array.isArray(given)) throw invalid('"tools" must be a list of tools made with tool({ … }) or agent.asTool().');
  const list = given as readonly (Tool | HostedTool)[];
  const hosted = list.filter(isHosted).map(hostedModelTool);
  const tools = new Map<string, Tool>();
  for (const each of list) {
    if (isHosted(each)) continue;
    if (typeof each?.execute !== "function" || each.schema === undefined) {
      throw invalid('Every entry of "tools" must be made with tool({ … }) or agent.asTool().');
    }
    checkName(each.name);
    if (tools.has(each.name)) throw twice(each.name);
    tools.set(each.name, each);
  }
  const names = hosted.map(({ name }) => name);
  const repeated = names.find((name, index) => tools.has(name) || names.indexOf(name) !== index);
  if (repeated !== undefined) throw twice(repeated);
  return { tools, hosted };
}

function twice(name: string): OffstageError {
  return invalid(`Two tools have the name "${name}". Rename one of them.`);
}
