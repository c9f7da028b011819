// Runs calls of tools: checked, in time, their results as JSON. Every failure of a tool is a result. Only an abort of the run
// and a guardrail that fails get out.

import { Cancellation } from "../base/cancellation.ts";
import { isObject, type JsonValue, parseArguments } from "../base/json.ts";
import { messageOf } from "../errors.ts";
import type { Content } from "../messages/message.ts";
import { partsIn } from "../messages/parts.ts";
import { longestTimer } from "../models/retry.ts";
import type { StepToolCall, ToolResult } from "../state/step.ts";
import { clip, collect, isAsyncIterable, jsonSafe } from "./json-safe.ts";
import { partsOf } from "./result-parts.ts";
import type { Checked } from "./schema.ts";
import type { Tool, ToolRunOptions } from "./tool.ts";
import { ToolAnswer, ToolWaiting } from "./tool-answer.ts";

/**
 * The results of the calls, in call order; at most `maxParallel` run at once. If one rejects, no other starts, and the
 * rejection waits for those that are running: nothing goes on behind a run that is over.
 */
export async function runTools<Result>(
  calls: readonly StepToolCall[],
  maxParallel: number,
  run: (call: StepToolCall, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(calls.length);
  const failures: unknown[] = [];
  const queue = calls.entries();
  const work = async () => {
    for (const [index, call] of queue) {
      try {
        results[index] = await run(call, index);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) break;
    }
  };
  const workers = calls.slice(0, maxParallel).map(work);
  for (const worker of workers) await worker;
  if (failures.length > 0) throw failures[0];
  return results;
}

/** The result of one call, or that it waits. Rejects only if the run is aborted or a guardrail fails. */
export async function runTool(call: StepToolCall, site: CallSite): Promise<ToolResult | ToolWaiting> {
  const startedAt = performance.now();
  const admission = await admitCall(call, site);
  if (admission === "wait") return new ToolWaiting();
  if ("refusal" in admission) {
    const refused = failure(call, admission.refusal, startedAt);
    return admission.isRejected ? { ...refused, status: "rejected" } : refused;
  }
  site.started(admission.call);
  const { tool } = admission;
  // Copied before the tool can change it.
  const input = jsonSafe(admission.input);
  const value = await execute(tool, admission.input, site);
  if (isA(value, ToolWaiting)) return value;
  const result = resultOf(call, value, { tool, input, startedAt });
  const withheld = site.guard && (await site.guard.output(admission.call, result));
  return withheld === undefined ? result : failure(call, withheld, startedAt);
}

// Returns the tool's answer, or one that says why it failed.
async function execute(tool: Tool, input: unknown, site: CallSite): Promise<unknown> {
  const limit = timeLimitOf(tool, site);
  const { cancellation = site.cancellation } = limit ?? {};
  try {
    cancellation.signal.throwIfAborted();
    const running = tool.execute(input, site.about(cancellation));
    // A subagent's run ends by itself when it is aborted, and the run that called it ends after it.
    if (tool.isSubagent) return await running;
    // If the tool asks a question, what it does after that does not count: it runs again.
    const value = await cancellation.race<unknown>(running, site.onWait);
    if (!isAsyncIterable(value)) return value;
    return await cancellation.race<unknown>(collect(value, { signal: cancellation.signal }), site.onWait);
  } catch (error) {
    site.cancellation.signal.throwIfAborted();
    const text =
      limit !== undefined && error === limit.late
        ? `${messageOf(error)} It was told to stop; its effect is unknown.`
        : `The tool "${tool.name}" failed: ${messageOf(error)}`;
    return new ToolAnswer(text, { isError: true, thrown: { error } });
  } finally {
    limit?.stop();
  }
}

interface TimeLimit {
  /** Follows the run's, and aborts with `late` when the time is up. The result does not wait for the tool to notice. */
  readonly cancellation: Cancellation;
  readonly late: DOMException;
  stop(): void;
}

function timeLimitOf({ name, timeoutMs }: Tool, { cancellation: parent, askedMs }: CallSite): TimeLimit | undefined {
  if (timeoutMs === undefined || timeoutMs > longestTimer) return undefined;
  const cancellation = new Cancellation(parent.signal);
  const late = new DOMException(`The tool "${name}" took longer than ${timeoutMs} ms.`, "TimeoutError");
  const startedAt = performance.now();
  // The time in which a person thinks about a question is not the tool's.
  const check = (): void => {
    const left = timeoutMs + askedMs() - (performance.now() - startedAt);
    if (left < 1) cancellation.abort(late);
    else timer = setTimeout(check, left);
  };
  let timer = setTimeout(check, timeoutMs);
  const stop = (): void => {
    clearTimeout(timer);
    cancellation[Symbol.dispose]();
  };
  return { cancellation, late, stop };
}

// A proxy may throw when it is asked for its class.
function isA<Kind>(value: unknown, kind: abstract new (...given: never[]) => Kind): value is Kind {
  try {
    return typeof value === "object" && value instanceof kind;
  } catch {
    return false;
  }
}

interface Finished {
  readonly tool: Tool;
  readonly input: JsonValue;
  readonly startedAt: number;
}

function resultOf(call: StepToolCall, value: unknown, { tool, input, startedAt }: Finished): ToolResult {
  const answer = isA(value, ToolAnswer) ? value : undefined;
  const { output, content, clippedBytes } = contentOf(answer === undefined ? value : answer.value, tool);
  const result: ToolResult = {
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    input,
    output,
    content,
    isError: answer?.isError ?? false,
    durationMs: performance.now() - startedAt,
    ...(clippedBytes > 0 && { clippedBytes }),
    ...(answer?.childRunId !== undefined && { childRunId: answer.childRunId }),
  };
  // Not enumerable: a state is JSON, and an error is not.
  if (answer?.thrown !== undefined) Object.defineProperty(result, "error", { value: answer.thrown.error });
  return result;
}

interface ShownValue {
  /** The whole value as JSON. */
  readonly output: JsonValue;
  /** The form that the model sees. */
  readonly content: Content;
  readonly clippedBytes: number;
}

function contentOf(value: unknown, { maxResultBytes }: Tool): ShownValue {
  const parts = typeof value === "object" ? partsIn(value) : undefined;
  if (parts !== undefined) return partsOf(parts, maxResultBytes);
  const output = jsonSafe(value);
  const whole = typeof output === "string" ? output : JSON.stringify(output);
  const { text: content, clippedBytes } = clip(whole, maxResultBytes);
  return { output, content, clippedBytes };
}

const maxProblemBytes = 16 * 1024;

// The result of a call that was not run, or whose result is withheld.
function failure({ toolCallId, toolName }: StepToolCall, problem: string, startedAt: number): ToolResult {
  const { text } = clip(problem, maxProblemBytes);
  return {
    toolCallId,
    toolName,
    output: text,
    content: text,
    isError: true,
    durationMs: performance.now() - startedAt,
  };
}

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
  /** Calls the listener when the call asked a question and has to wait for the answer. */
  onWait(listener: (waiting: ToolWaiting) => void): void;
  /** How long the call has waited for people so far. */
  readonly askedMs: () => number;
  /** The options of the tool, given the cancellation that aborts it. */
  about(cancellation: Cancellation): ToolRunOptions;
  /** Decides about a call that needs approval. */
  permit(call: StepToolCall): Promise<Permission>;
  /** Reports the error of a `needsApproval` that threw. */
  unasked(error: unknown): void;
  /** Called when the tool is about to run. */
  started(call: StepToolCall): void;
}

/** A call that needs approval runs, runs as a person changed it, waits, or is refused with this text. */
export type Permission = "run" | "wait" | { readonly refusal: string } | { readonly edited: StepToolCall };

/** The tool with its checked input, or why it does not run. */
type Admission =
  | { readonly tool: Tool; readonly input: unknown; readonly call: StepToolCall }
  | { readonly refusal: string; readonly isRejected?: boolean }
  | "wait";

/** Decides whether a call may run. Rejects only if the run is aborted or a guard fails. */
async function admitCall(call: StepToolCall, site: CallSite): Promise<Admission> {
  const tool = site.tools.get(call.toolName);
  if (tool === undefined) return { refusal: unknownTool(call.toolName, site.tools) };
  // The stored input may be redacted, so it is not checked again.
  if (site.hasBegun && tool.isSubagent) return { tool, input: parseArguments(call.inputText) ?? {}, call };
  const checked = await checkInput(tool, call, site.cancellation);
  if ("problems" in checked) return { refusal: misfit(call, checked.problems) };
  const { value: input } = checked;
  const refusal = site.guard && (await site.guard.input(call, input));
  if (refusal !== undefined) return { refusal };
  const { needsApproval } = tool;
  const isAsked = typeof needsApproval === "function" ? await asks(needsApproval, input, site) : needsApproval;
  const permission = isAsked ? await site.permit(call) : "run";
  if (permission === "run") return { tool, input, call };
  if (permission === "wait") return permission;
  return "edited" in permission ? admitEdited(tool, permission.edited, site) : { ...permission, isRejected: true };
}

// A changed input is checked like the model's own.
async function admitEdited(tool: Tool, call: StepToolCall, site: CallSite): Promise<Admission> {
  const checked = await checkInput(tool, call, site.cancellation);
  if ("problems" in checked) return { refusal: misfit(call, checked.problems) };
  const refusal = site.guard && (await site.guard.input(call, checked.value));
  return refusal === undefined ? { tool, input: checked.value, call } : { refusal };
}

type Question = Extract<Tool["needsApproval"], (...given: never[]) => unknown>;

// A question that fails counts as yes: the call waits.
async function asks(needsApproval: Question, input: unknown, site: CallSite): Promise<boolean> {
  const { cancellation } = site;
  try {
    return (await cancellation.race(needsApproval(input, site.about(cancellation)))) !== false;
  } catch (error) {
    cancellation.signal.throwIfAborted();
    site.unasked(error);
    return true;
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const known = [...tools.keys()].map((each) => `"${each}"`).join(", ") || "none";
  return `There is no tool "${name}". Available tools: ${known}.`;
}

// Models write nothing at all for a tool that takes no input.
function checkInput(tool: Tool, { inputText }: StepToolCall, cancellation: Cancellation): Promise<Checked> {
  const parsed = inputText === "" ? {} : parseArguments(inputText);
  if (isObject(parsed)) return tool.schema.check(parsed, cancellation);
  return Promise.resolve({ problems: [unreadable(inputText, parsed)] });
}

function unreadable(text: string, parsed: unknown): string {
  const what = parsed === undefined ? "not valid JSON, or nested too deep" : "not a JSON object";
  return `the arguments are ${what}: ${clip(text, 500).text}`;
}

function misfit(call: StepToolCall, problems: readonly string[]): string {
  const list = problems.map((each) => `- ${each}`).join("\n");
  return `The tool "${call.toolName}" was not run, because its input does not fit:\n${list}`;
}
