// Runs one call: execute in time, make JSON of what came. Every failure is a result, never a throw; only an abort of the
// run gets out, and a guardrail that fails.

import { Cancellation } from "../base/cancellation.ts";
import { clockMs } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import type { Mutable } from "../base/mutable.ts";
import { isThenable } from "../base/thenable.ts";
import { messageOf } from "../errors.ts";
import { longestTimer } from "../models/retry.ts";
import type { StepToolCall, ToolResult } from "../state/step.ts";
import { admitCall, type CallSite } from "./admit-call.ts";
import { clip } from "./clip.ts";
import { collect, isAsyncIterable, jsonInput, jsonSafe } from "./json-safe.ts";
import type { Tool } from "./tool.ts";
import { ToolAnswer, ToolWaiting } from "./tool-answer.ts";

// What is wrong with a call is told in as many bytes at most.
const maxProblemBytes = 16 * 1024;
/** What became of one call, or that it waits. Rejects only when the run is aborted, or a guardrail fails. */
export async function runTool(call: StepToolCall, site: CallSite): Promise<ToolResult | ToolWaiting> {
  const startedAt = clockMs();
  const { cancellation } = site;
  const admitting = admitCall(call, site);
  const admission = typeof admitting === "object" && "then" in admitting ? await admitting : admitting;
  if (admission === "wait") return new ToolWaiting();
  if ("refusal" in admission) return failure(call, admission.refusal, startedAt);
  site.started();
  const { tool, input: given } = admission;
  // As it was before the tool had it in hand.
  const input = jsonInput(given);
  let value: unknown;
  try {
    value = await (isTimed(tool) ? executeInTime(tool, given, site) : execute(tool, given, { site, cancellation }));
    if (isAsyncIterable(value)) value = await collected(value, cancellation);
  } catch (error) {
    cancellation.throwIfAborted();
    const text = `The tool "${tool.name}" failed: ${messageOf(error)}`;
    value = new ToolAnswer(text, { isError: true, thrown: { error } });
  }
  if (isA(value, ToolWaiting)) return value;
  const result = resultOf(call, value, { tool, input, startedAt });
  const withheld = site.guard === undefined ? undefined : await site.guard.output(call, result);
  return withheld === undefined ? result : failure(call, withheld, startedAt);
}

interface Executing {
  readonly site: CallSite;
  /** What aborts the tool: the run's, or one of its own. */
  readonly cancellation: Cancellation;
}

function execute(tool: Tool, input: unknown, { site, cancellation }: Executing): unknown {
  cancellation.throwIfAborted();
  const running = tool.execute(input, site.about(cancellation));
  // A subagent's run ends by itself when it is aborted: the run that called it ends after it.
  return tool.isSubagent || !isThenable(running) ? running : cancellation.race(running);
}

function collected(items: AsyncIterable<unknown>, cancellation: Cancellation): Promise<JsonValue[]> {
  return cancellation.race(collect(items, { cancellation }));
}

function isTimed({ timeoutMs }: Tool): boolean {
  return timeoutMs !== undefined && timeoutMs <= longestTimer;
}

// The tool's own signal follows the run's and aborts when its time is up; the answer does not wait for the tool to listen.
async function executeInTime(tool: Tool, input: unknown, site: CallSite): Promise<unknown> {
  using own = new Cancellation(site.cancellation.signal);
  const late = new DOMException(`The tool "${tool.name}" took longer than ${tool.timeoutMs} ms.`, "TimeoutError");
  const timer = setTimeout(() => own.abort(late), tool.timeoutMs);
  try {
    const value = await execute(tool, input, { site, cancellation: own });
    return isAsyncIterable(value) ? await collected(value, own) : value;
  } catch (error) {
    if (error !== late || site.cancellation.isAborted) throw error;
    const text = `${late.message} It was told to stop; its effect is unknown.`;
    return new ToolAnswer(text, { isError: true, thrown: { error } });
  } finally {
    clearTimeout(timer);
  }
}

// A proxy may throw when it is asked what it is.
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
  const output = jsonSafe(answer?.text ?? value);
  const whole = textOfOutput(output);
  // A text that surely fits needs no clipping.
  const clipped = whole.length * 3 <= tool.maxResultBytes ? undefined : clip(whole, tool.maxResultBytes);
  const result: Mutable<ToolResult> = {
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    input,
    output,
    content: clipped?.text ?? whole,
    isError: answer?.isError ?? false,
    durationMs: clockMs() - startedAt,
  };
  if (clipped !== undefined && clipped.clippedBytes > 0) result.clippedBytes = clipped.clippedBytes;
  if (answer?.childRunId !== undefined) result.childRunId = answer.childRunId;
  // Not among its fields: a state is JSON, and an error is not.
  if (answer?.thrown !== undefined) Object.defineProperty(result, "error", { value: answer.thrown.error });
  return result;
}

function textOfOutput(output: JsonValue): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

// A call that was not run, or whose result is not to be shown.
function failure(call: StepToolCall, problem: string, startedAt: number): ToolResult {
  const { text } = clip(problem, maxProblemBytes);
  const durationMs = clockMs() - startedAt;
  return {
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    output: text,
    content: text,
    isError: true,
    durationMs,
  };
}
