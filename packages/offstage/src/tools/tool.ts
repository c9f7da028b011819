// A tool: a name, a schema and a function. Defining one checks it; a call of one is run by run-tool.ts.

import { isObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { AgentContext } from "../state/agent-context.ts";
import { type AnySchema, type CompiledSchema, compileSchema, type OutputOf } from "./schema.ts";

/** What a tool is told about the call beside its input. */
export interface ToolRunOptions<Values extends object = Record<string, unknown>> {
  /** Aborts when the run does, or when the tool's time is up. */
  readonly signal: AbortSignal;
  /** The run's shared key-value state. */
  readonly context: AgentContext<Values>;
  readonly toolCallId: string;
  readonly runId: string;
  /** From 1. */
  readonly step: number;
  /** The name of the agent that called. */
  readonly agent: string;
}

/** How much of a tool's earlier results later turns are shown; see `toolHistory`. */
export type Remember = "none" | "digest" | "full";

/** What a tool gets from the model: where no schema says what is in it, an object and no more. */
export type InputOf<Schema> = Schema extends undefined ? object : OutputOf<Schema>;

export interface ToolOptions<Schema, Values extends object> {
  /** What the model calls it: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly description?: string;
  /** A Standard Schema, JSON Schema, or `{ jsonSchema, validate }`. Left out: no input. */
  readonly input?: Schema;
  /** Does the work. May give anything; may throw: the model is told. */
  execute(input: InputOf<Schema>, options: ToolRunOptions<Values>): unknown;
  /** After so long the call is answered with an error and its signal aborts. Default: no limit. */
  readonly timeoutMs?: number;
  /** The run pauses until the call is approved. */
  readonly needsApproval?:
    | boolean
    | ((input: InputOf<Schema>, options: ToolRunOptions<Values>) => boolean | Promise<boolean>);
  /** Safe to run again after a crash. Default false. */
  readonly idempotent?: boolean;
  /** Overrides the agent's `toolHistory` for this tool. */
  readonly remember?: Remember;
  /** Results beyond this are clipped for the model. Default 64 KiB. */
  readonly maxResultBytes?: number;
}

/** A defined tool. Make one with `tool()`. */
export interface Tool {
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
  /** The tool is an agent; see `agent.asTool`. */
  readonly isSubagent: boolean;
}

const noInput = { type: "object", properties: {} };

/** A tool that agents can use; throws `invalid-tool` naming what does not fit. */
export function tool<Schema extends AnySchema | undefined = undefined, Values extends object = Record<string, unknown>>(
  options: ToolOptions<Schema, Values>,
): Tool {
  if (!isObject(options)) throw invalid("A tool is made from options: tool({ name, input, execute }).");
  const { name, description, input = noInput, timeoutMs, maxResultBytes = 64 * 1024 } = options;
  checkName(name);
  for (const alien of ["parameters", "inputSchema"]) {
    if (alien in options) throw invalid(`The tool "${name}" has "${alien}"; here the schema is called "input".`);
  }
  checkPolicyNames(name, options);
  if (typeof options.execute !== "function") throw invalid(`The tool "${name}" needs an execute function.`);
  checkPositive(name, "timeoutMs", timeoutMs);
  checkPositive(name, "maxResultBytes", maxResultBytes);
  checkPolicies(name, options);
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

const policies: readonly string[] = ["timeoutMs", "needsApproval", "idempotent", "remember", "maxResultBytes"];
const policyLike = /time.?out|approv|idempot|remember|max.?result/i;

function checkName(name: unknown): void {
  if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw invalid(`A tool's name must be 1 to 64 letters, digits, "_" or "-"; found ${JSON.stringify(name)}.`);
}

// A policy that is misspelt would be none: the tool would run without approval. Other fields are its own, for `this`.
function checkPolicyNames(name: string, options: object): void {
  const slip = Object.keys(options).find((key) => policyLike.test(key) && !policies.includes(key));
  if (slip !== undefined)
    throw invalid(`The tool "${name}" has "${slip}", which means nothing; there are ${policies.join(", ")}.`);
}

function checkPositive(name: string, field: string, value: number | undefined): void {
  if (value !== undefined && !(typeof value === "number" && value > 0))
    throw invalid(`"${field}" of the tool "${name}" must be a positive number; found ${shownValue(value)}.`);
}

// A policy that means nothing would be taken for the most careful one, or for none.
function checkPolicies(
  name: string,
  { remember, needsApproval }: { remember?: unknown; needsApproval?: unknown },
): void {
  if (remember !== undefined && remember !== null && !["none", "digest", "full"].includes(remember as string))
    throw invalid(
      `"remember" of the tool "${name}" must be "none", "digest" or "full"; found ${shownValue(remember)}.`,
    );
  if (
    needsApproval !== undefined &&
    needsApproval !== null &&
    typeof needsApproval !== "boolean" &&
    typeof needsApproval !== "function"
  )
    throw invalid(
      `"needsApproval" of the tool "${name}" must be true, false or a function; found ${shownValue(needsApproval)}.`,
    );
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-tool", message);
}

/** Whether no call of the tool begins without approval, whatever its input. */
export function alwaysAsks(tool: Tool | undefined): boolean {
  return tool?.needsApproval === true;
}

/** The tools by name; throws `invalid-tool` where a name stands twice or a value is not a tool. */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  if (!Array.isArray(tools)) throw invalid('"tools" must be a list of tools made with tool({ … }) or agent.asTool().');
  const byName = new Map<string, Tool>();
  for (const each of tools) {
    if (typeof each?.execute !== "function" || each.schema === undefined) {
      throw invalid('Every entry of "tools" must be made with tool({ … }) or agent.asTool().');
    }
    checkName(each.name);
    if (byName.has(each.name)) throw invalid(`Two tools have the name "${each.name}". Rename one of them.`);
    byName.set(each.name, each);
  }
  return byName;
}
