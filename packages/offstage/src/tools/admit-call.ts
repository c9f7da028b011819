// Decides whether a call may run: its tool is known, its input fits, no guard objects, and it is approved if it must be.
import type { Cancellation } from "../base/cancellation.ts";
import { isObject, parseArguments } from "../base/json.ts";
import type { StepToolCall, ToolResult } from "../state/step.ts";
import { clip } from "./clip.ts";
import type { Checked } from "./schema.ts";
import type { Tool, ToolRunOptions } from "./tool.ts";

/** Blocks a call or its result by returning the reason. */
export interface ToolGuard {
  input(call: StepToolCall, input: unknown): Promise<string | undefined>;
  output(call: StepToolCall, result: ToolResult): Promise<string | undefined>;
}

/** The run around a call, as far as its tool is concerned. */
export interface CallSite {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly cancellation: Cancellation;
  readonly guard: ToolGuard | undefined;
  /** True if a subagent's run inside the call is resumed: the call was checked and approved when that run began. */
  readonly hasBegun: boolean;
  /** The options of the tool, given the cancellation that aborts it. */
  about(cancellation: Cancellation): ToolRunOptions;
  /** Decides about a call that needs approval: it runs, waits, or is refused with this text. */
  permit(call: StepToolCall): "run" | "wait" | { readonly refusal: string };
  /** Reports the error of a `needsApproval` that threw. */
  unasked(error: unknown): void;
  /** Called when the tool begins: not for a call that is refused or waits for approval. */
  started(): void;
}

/** The tool with its checked input, or why it does not run. */
type Admission = { readonly tool: Tool; readonly input: unknown } | { readonly refusal: string } | "wait";

/** Decides whether a call may run. Rejects only if the run is aborted or a guard fails. */
export async function admitCall(call: StepToolCall, site: CallSite): Promise<Admission> {
  const tool = site.tools.get(call.toolName);
  if (tool === undefined) return { refusal: unknownTool(call.toolName, site.tools) };
  // The stored input may be redacted, so it is not checked again.
  if (site.hasBegun && tool.isSubagent) return { tool, input: parseArguments(call.inputText) ?? {} };
  const checked = await site.cancellation.race(checkInput(tool, call));
  if ("problems" in checked) return { refusal: misfit(call, checked.problems) };
  const { value: input } = checked;
  const refusal = await site.guard?.input(call, input);
  if (refusal !== undefined) return { refusal };
  const permission = (await needsApproval(tool, input, site)) ? site.permit(call) : "run";
  return permission === "run" ? { tool, input } : permission;
}

// A question that fails counts as yes: the call waits.
async function needsApproval({ needsApproval: needed }: Tool, input: unknown, site: CallSite): Promise<boolean> {
  if (typeof needed === "boolean") return needed;
  const { cancellation } = site;
  try {
    return (await cancellation.race(Promise.resolve(needed(input, site.about(cancellation))))) !== false;
  } catch (error) {
    cancellation.throwIfAborted();
    site.unasked(error);
    return true;
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const known = [...tools.keys()].map((each) => `"${each}"`).join(", ") || "none";
  return `There is no tool "${name}". Available tools: ${known}.`;
}

// Models write nothing at all for a tool that takes no input.
async function checkInput(tool: Tool, { inputText }: StepToolCall): Promise<Checked> {
  const parsed = inputText === "" ? {} : parseArguments(inputText);
  return isObject(parsed) ? tool.schema.check(parsed) : { problems: [unreadable(inputText, parsed)] };
}

function unreadable(text: string, parsed: unknown): string {
  const what = parsed === undefined ? "not valid JSON, or nested too deep" : "not a JSON object";
  return `the arguments are ${what}: ${clip(text, 500).text}`;
}

function misfit(call: StepToolCall, problems: readonly string[]): string {
  const list = problems.map((each) => `- ${each}`).join("\n");
  return `The tool "${call.toolName}" was not run, because its input does not fit:\n${list}`;
}
