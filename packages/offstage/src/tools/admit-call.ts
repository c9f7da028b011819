// Whether a call may run: its tool is known, its input fits, no guard objects, and it is approved where it must be.

import type { Cancellation } from "../base/cancellation.ts";
import { isObject, parseArguments } from "../base/json.ts";
import type { StepToolCall, ToolResult } from "../state/step.ts";
import { clip } from "./clip.ts";
import type { Checked } from "./schema.ts";
import type { Tool, ToolRunOptions } from "./tool.ts";

/** Something that may block a call or its result, saying why. */
export interface ToolGuard {
  input(call: StepToolCall, input: unknown): Promise<string | undefined>;
  output(call: StepToolCall, result: ToolResult): Promise<string | undefined>;
}

/** The run around a call, as far as its tool is concerned. */
export interface CallSite {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly cancellation: Cancellation;
  readonly guard: ToolGuard | undefined;
  /** A subagent's run inside the call goes on: the call was checked and approved when that began. */
  readonly hasBegun: boolean;
  /** What the tool is told, given what aborts it. */
  about(cancellation: Cancellation): ToolRunOptions;
  /** Asked for a call that needs approval: whether it may run, must wait, or is refused with these words. */
  permit(call: StepToolCall): "run" | "wait" | { readonly refusal: string };
  /** Told why it could not be asked whether a call needs approval. */
  unasked(error: unknown): void;
  /** Told when the tool begins: not for a call that is refused, or waits for approval. */
  started(): void;
}

/** The tool with its checked input, or why it is not run. */
type Admission = { readonly tool: Tool; readonly input: unknown } | { readonly refusal: string } | "wait";

/** Whether a call may run. Synchronous unless its schema, a guard or an approval must be waited for. */
export function admitCall(call: StepToolCall, site: CallSite): Admission | Promise<Admission> {
  const tool = site.tools.get(call.toolName);
  if (tool === undefined) return { refusal: unknownTool(call.toolName, site.tools) };
  // What is kept of its input may be redacted, and is not checked again.
  if (site.hasBegun && tool.isSubagent) return { tool, input: parseArguments(call.inputText) ?? {} };
  const checked = checkCall(tool, call);
  const isAsked = site.guard !== undefined || tool.needsApproval !== false;
  if (isAsked || "then" in checked) return askAll(tool, call, { checked, site });
  return "problems" in checked ? { refusal: misfit(call, checked.problems) } : { tool, input: checked.value };
}

interface Asking {
  readonly checked: Checked | Promise<Checked>;
  readonly site: CallSite;
}

async function askAll(tool: Tool, call: StepToolCall, { checked: checking, site }: Asking): Promise<Admission> {
  const checked = "then" in checking ? await site.cancellation.race(checking) : checking;
  if ("problems" in checked) return { refusal: misfit(call, checked.problems) };
  const { value: input } = checked;
  const refusal = await site.guard?.input(call, input);
  if (refusal !== undefined) return { refusal };
  const permission = tool.needsApproval === false ? "run" : await permissionOf(tool, call, { input, site });
  return permission === "run" ? { tool, input } : permission;
}

interface Question {
  readonly input: unknown;
  readonly site: CallSite;
}

// A question that fails is answered with caution: the call waits.
async function permissionOf({ needsApproval }: Tool, call: StepToolCall, { input, site }: Question) {
  if (typeof needsApproval === "boolean") return site.permit(call);
  const { cancellation } = site;
  try {
    const isNeeded = await cancellation.race(Promise.resolve(needsApproval(input, site.about(cancellation))));
    return isNeeded === false ? ("run" as const) : site.permit(call);
  } catch (error) {
    cancellation.throwIfAborted();
    site.unasked(error);
    return site.permit(call);
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const known = [...tools.keys()].map((each) => `"${each}"`).join(", ") || "none";
  return `There is no tool "${name}". Available tools: ${known}.`;
}

// Models write nothing at all for a tool that takes nothing.
function checkCall(tool: Tool, call: StepToolCall): Checked | Promise<Checked> {
  const parsed = call.inputText === "" ? {} : parseArguments(call.inputText);
  if (!isObject(parsed)) return { problems: [unreadable(call.inputText, parsed)] };
  return tool.schema.check(parsed);
}

function unreadable(text: string, parsed: unknown): string {
  const what = parsed === undefined ? "not valid JSON, or nested too deep" : "not a JSON object";
  return `the arguments are ${what}: ${clip(text, 500).text}`;
}

function misfit(call: StepToolCall, problems: readonly string[]): string {
  return `The tool "${call.toolName}" was not run, because its input does not fit:\n${problems.map((each) => `- ${each}`).join("\n")}`;
}
