// Runs calls of tools: checked, in time, their results as JSON. Every failure of a tool is a result. Only an abort of the run
// and a guardrail that fails get out.
import { Cancellation } from "../base/cancellation.ts";

import type { JsonValue } from "../base/json.ts";
import { messageOf } from "../errors.ts";
import { longestTimer } from "../models/retry.ts";
import type { StepToolCall, ToolResult } from "../state/step.ts";
import { admitCall, type CallSite } from "./admit-call.ts";
import { clip } from "./clip.ts";
import { collect, isAsyncIterable, jsonSafe } from "./json-safe.ts";
import type { Tool } from "./tool.ts";
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
  const workers = Array.from({ length: Math.min(maxParallel, calls.length) }, work);
  for (const worker of workers) await worker;
  if (failures.length > 0) throw failures[0];
  return results;
}

/** The result of one call, or that it waits. Rejects only if the run is aborted or a guardrail fails. */
export async function runTool(call: StepToolCall, site: CallSite): Promise<ToolResult | ToolWaiting> {
  const startedAt = performance.now();
  const admission = await admitCall(call, site);
  if (admission === "wait") return new ToolWaiting();
  if ("refusal" in admission) return failure(call, admission.refusal, startedAt);
  site.started();
  const { tool } = admission;
  // Copied before the tool can change it.
  const input = jsonSafe(admission.input);
  const value = await executeSafely(tool, admission.input, site);
  if (isA(value, ToolWaiting)) return value;
  const result = resultOf(call, value, { tool, input, startedAt });
  const withheld = await site.guard?.output(call, result);
  return withheld === undefined ? result : failure(call, withheld, startedAt);
}

// What the tool returns, or an answer that says why it failed.
async function executeSafely(tool: Tool, input: unknown, site: CallSite): Promise<unknown> {
  try {
    return await executeInTime(tool, input, site);
  } catch (error) {
    site.cancellation.throwIfAborted();
    const text = `The tool "${tool.name}" failed: ${messageOf(error)}`;
    return new ToolAnswer(text, { isError: true, thrown: { error } });
  }
}

// The tool's own cancellation follows the run's, and aborts when its time is up. The result does not wait for the tool to notice.
async function executeInTime(tool: Tool, input: unknown, site: CallSite): Promise<unknown> {
  const { name, timeoutMs } = tool;
  if (timeoutMs === undefined || timeoutMs > longestTimer) return execute(tool, input, site);
  using own = new Cancellation(site.cancellation.signal);
  const late = new DOMException(`The tool "${name}" took longer than ${timeoutMs} ms.`, "TimeoutError");
  const timer = setTimeout(() => own.abort(late), timeoutMs);
  try {
    return await execute(tool, input, { about: () => site.about(own), cancellation: own });
  } catch (error) {
    if (error !== late || site.cancellation.isAborted) throw error;
    const text = `${late.message} It was told to stop; its effect is unknown.`;
    return new ToolAnswer(text, { isError: true, thrown: { error } });
  } finally {
    clearTimeout(timer);
  }
}

async function execute(tool: Tool, input: unknown, site: Pick<CallSite, "about" | "cancellation">): Promise<unknown> {
  const { cancellation } = site;
  cancellation.throwIfAborted();
  const running = Promise.resolve(tool.execute(input, site.about(cancellation)));
  // A subagent's run ends by itself when it is aborted, and the run that called it ends after it.
  const value: unknown = await (tool.isSubagent ? running : cancellation.race(running));
  return isAsyncIterable(value) ? cancellation.race(collect(value, { cancellation })) : value;
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
  const output = jsonSafe(answer === undefined ? value : answer.text);
  const whole = typeof output === "string" ? output : JSON.stringify(output);
  const { text: content, clippedBytes } = clip(whole, tool.maxResultBytes);
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
