// Runs one call: parse, check, guard, execute in time, make JSON of what came. Every failure is a result, never a throw;
// only an abort of the run gets out.
import { messageOf } from "../errors.ts";
import { isObject, type JsonValue, parseJson } from "../messages/json.ts";
import { Cancellation } from "../models/cancellation.ts";
import type { StepToolCall, ToolResult } from "../state/step.ts";
import { clip } from "./clip.ts";
import { collect, isAsyncIterable, jsonSafe } from "./json-safe.ts";
import type { Tool, ToolRunOptions } from "./tool.ts";
import { ToolAnswer } from "./tool-answer.ts";

/** Something that may block a call or its result, saying why. */
export interface ToolGuard {
  input(call: StepToolCall, input: unknown): Promise<string | undefined>;
  output(call: StepToolCall, result: ToolResult): Promise<string | undefined>;
}

export interface RunToolOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly cancellation: Cancellation;
  /** What the tool is told, but for its own call id and signal. */
  readonly about: Omit<ToolRunOptions, "toolCallId" | "signal">;
  readonly guard: ToolGuard | undefined;
}

/** What became of one call. Rejects only when the run is aborted. */
export async function runTool(call: StepToolCall, options: RunToolOptions): Promise<ToolResult> {
  const startedAt = performance.now();
  const tool = options.tools.get(call.name);
  if (tool === undefined) return failure(call, startedAt, unknownTool(call.name, options.tools));
  const prepared = await prepare(tool, call, options);
  if ("problem" in prepared) return failure(call, startedAt, prepared.problem);
  const { input } = prepared;
  const outcome = await attempt(tool, call, input, options);
  const result = resultOf({ call, tool, input, startedAt }, outcome);
  const blocked = await options.guard?.output(call, result);
  return blocked === undefined ? result : { ...failure(call, startedAt, blocked), input: result.input as JsonValue };
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const known = [...tools.keys()].map((each) => `"${each}"`).join(", ") || "none";
  return `There is no tool "${name}". Available tools: ${known}.`;
}

type Prepared = { readonly input: unknown } | { readonly problem: string };

async function prepare(tool: Tool, call: StepToolCall, options: RunToolOptions): Promise<Prepared> {
  const parsed = call.arguments.trim() === "" ? {} : parseJson(call.arguments);
  if (!isObject(parsed)) return { problem: unreadable(call, parsed) };
  const checked = await checkInput(tool, parsed);
  if ("problems" in checked) {
    return {
      problem: `The input of the tool "${call.name}" does not fit its schema:\n${checked.problems.map((problem) => `- ${problem}`).join("\n")}`,
    };
  }
  const blocked = await options.guard?.input(call, checked.value);
  return blocked === undefined ? { input: checked.value } : { problem: blocked };
}

function unreadable(call: StepToolCall, parsed: unknown): string {
  const what = parsed === undefined ? "not valid JSON" : "not a JSON object";
  return `The arguments of the tool "${call.name}" are ${what}: ${clip(call.arguments, 500).text}`;
}

async function checkInput(tool: Tool, value: unknown) {
  try {
    return await tool.schema.check(value);
  } catch (error) {
    return { problems: [messageOf(error)] };
  }
}

type Attempt = { readonly value: unknown } | { readonly error: string };

async function attempt(tool: Tool, call: StepToolCall, input: unknown, options: RunToolOptions): Promise<Attempt> {
  const { cancellation } = options;
  cancellation.throwIfAborted();
  if (tool.timeoutMs !== undefined) return attemptInTime(tool, call, input, options, tool.timeoutMs);
  try {
    return {
      value: await cancellation.race(
        execute(tool, input, { ...options.about, toolCallId: call.id, signal: cancellation.signal }),
      ),
    };
  } catch (error) {
    cancellation.throwIfAborted();
    return { error: `The tool "${tool.name}" failed: ${messageOf(error)}` };
  }
}

// The tool's own signal follows the run's and aborts when its time is up; the answer does not wait for the tool to listen.
async function attemptInTime(
  tool: Tool,
  call: StepToolCall,
  input: unknown,
  options: RunToolOptions,
  timeoutMs: number,
): Promise<Attempt> {
  using own = new Cancellation(options.cancellation.signal);
  const late = new DOMException(`The tool "${tool.name}" took longer than ${timeoutMs} ms.`, "TimeoutError");
  const timer = setTimeout(() => own.abort(late), timeoutMs);
  try {
    return {
      value: await own.race(execute(tool, input, { ...options.about, toolCallId: call.id, signal: own.signal })),
    };
  } catch (error) {
    options.cancellation.throwIfAborted();
    return {
      error:
        own.signal.reason === late
          ? `${late.message} It was told to stop; its effect is unknown.`
          : `The tool "${tool.name}" failed: ${messageOf(error)}`,
    };
  } finally {
    clearTimeout(timer);
  }
}

async function execute(tool: Tool, input: unknown, about: ToolRunOptions): Promise<unknown> {
  const value = await tool.execute(input, about);
  return isAsyncIterable(value) ? collect(value) : value;
}

interface Finished {
  readonly call: StepToolCall;
  readonly tool: Tool;
  readonly input: unknown;
  readonly startedAt: number;
}

function resultOf({ call, tool, input, startedAt }: Finished, outcome: Attempt): ToolResult {
  const value = "error" in outcome ? new ToolAnswer(outcome.error, { isError: true }) : outcome.value;
  const answer = value instanceof ToolAnswer ? value : undefined;
  const output = answer?.text ?? jsonSafe(value);
  const { text, clippedBytes } = clip(textOfOutput(output), tool.maxResultBytes);
  return {
    toolCallId: call.id,
    toolName: call.name,
    input: jsonSafe(input),
    output,
    content: text,
    isError: answer?.isError ?? false,
    durationMs: performance.now() - startedAt,
    ...(clippedBytes > 0 ? { clippedBytes } : undefined),
    ...(answer?.childRunId === undefined ? undefined : { childRunId: answer.childRunId }),
  };
}

function textOfOutput(output: JsonValue): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

/** The result of a call that was not run, or whose outcome is not to be shown. */
export function failure(call: StepToolCall, startedAt: number, problem: string): ToolResult {
  return {
    toolCallId: call.id,
    toolName: call.name,
    output: problem,
    content: problem,
    isError: true,
    durationMs: performance.now() - startedAt,
  };
}
