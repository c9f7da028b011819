// Runs one call: check, guard, execute in time, make JSON of what came. Every failure is a result, never a throw; only an
// abort of the run gets out, and a guardrail that fails.
import { messageOf } from "../errors.ts";
import { isObject, type JsonValue, parseArguments } from "../messages/json.ts";
import { Cancellation } from "../models/cancellation.ts";
import type { StepToolCall, ToolResult } from "../state/step.ts";
import { clip } from "./clip.ts";
import { collect, isAsyncIterable, jsonSafe } from "./json-safe.ts";
import type { Checked } from "./schema.ts";
import type { Tool, ToolRunOptions } from "./tool.ts";
import { ToolAnswer, ToolWaiting } from "./tool-answer.ts";

// What is wrong with a call is told in as many bytes at most.
const maxProblemBytes = 16 * 1024;
// A timer that is set for longer fires at once.
const longestTimer = 2 ** 31 - 1;

/** Something that may block a call or its result, saying why. */
export interface ToolGuard {
  input(call: StepToolCall, input: unknown): Promise<string | undefined>;
  output(call: StepToolCall, result: ToolResult): Promise<string | undefined>;
}

export interface RunToolOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly cancellation: Cancellation;
  /** What the tool is told, given what aborts it. */
  readonly about: (cancellation: Cancellation) => ToolRunOptions;
  readonly guard: ToolGuard | undefined;
  /** Told when the tool begins: not for a call that is refused, or waits for approval. */
  readonly onStart?: () => void;
  /** Asked for a call that needs approval: whether it may run, must wait, or is refused with these words. */
  readonly permit: (call: StepToolCall) => "run" | "wait" | { readonly refusal: string };
}

/** What became of one call, or that it waits. Rejects only when the run is aborted, or a guardrail fails. */
export async function runTool(call: StepToolCall, options: RunToolOptions): Promise<ToolResult | ToolWaiting> {
  const startedAt = performance.now();
  const tool = options.tools.get(call.name);
  if (tool === undefined) return failure(call, unknownTool(call.name, options.tools), startedAt);
  const checking = checkCall(tool, call);
  const checked = checking instanceof Promise ? await options.cancellation.race(checking) : checking;
  if ("problems" in checked) return failure(call, misfit(call, checked.problems), startedAt);
  const forbidden = await options.guard?.input(call, checked.value);
  if (forbidden !== undefined) return failure(call, forbidden, startedAt);
  const permission = tool.needsApproval === false ? "run" : await permissionOf(tool, call, { checked, options });
  if (permission === "wait") return new ToolWaiting();
  if (permission !== "run") return failure(call, permission.refusal, startedAt);
  options.onStart?.();
  const attempt = (tool.timeoutMs ?? Number.POSITIVE_INFINITY) > longestTimer ? execute : executeInTime;
  // As it was before the tool had it in hand.
  const input = jsonSafe(checked.value);
  const value = await attempt(tool, checked.value, options);
  if (isA(value, ToolWaiting)) return value;
  const result = resultOf(call, value, { tool, input, startedAt });
  const withheld = await options.guard?.output(call, result);
  return withheld === undefined ? result : failure(call, withheld, startedAt);
}

interface Asking {
  readonly checked: { readonly value: unknown };
  readonly options: RunToolOptions;
}

// A question that fails is answered with caution: the call waits.
async function permissionOf({ needsApproval }: Tool, call: StepToolCall, { checked, options }: Asking) {
  if (typeof needsApproval === "boolean") return options.permit(call);
  const { cancellation, about, permit } = options;
  try {
    const isNeeded = await cancellation.race(Promise.resolve(needsApproval(checked.value, about(cancellation))));
    return isNeeded === false ? ("run" as const) : permit(call);
  } catch {
    cancellation.throwIfAborted();
    return permit(call);
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const known = [...tools.keys()].map((each) => `"${each}"`).join(", ") || "none";
  return `There is no tool "${name}". Available tools: ${known}.`;
}

// Models write nothing at all for a tool that takes nothing.
function checkCall(tool: Tool, call: StepToolCall): Checked | Promise<Checked> {
  const parsed = call.arguments === "" ? {} : parseArguments(call.arguments);
  if (!isObject(parsed)) return { problems: [unreadable(call.arguments, parsed)] };
  try {
    const checked = tool.schema.check(parsed);
    return checked instanceof Promise ? checked.catch(problemOf) : checked;
  } catch (error) {
    return problemOf(error);
  }
}

function unreadable(text: string, parsed: unknown): string {
  const what = parsed === undefined ? "not valid JSON, or nested too deep" : "not a JSON object";
  return `the arguments are ${what}: ${clip(text, 500).text}`;
}

function problemOf(error: unknown): Checked {
  return { problems: [messageOf(error)] };
}

function misfit(call: StepToolCall, problems: readonly string[]): string {
  return `The tool "${call.name}" was not run, because its input does not fit:\n${problems.map((each) => `- ${each}`).join("\n")}`;
}

async function execute(tool: Tool, input: unknown, { about, cancellation }: RunToolOptions): Promise<unknown> {
  cancellation.throwIfAborted();
  try {
    const running = tool.execute(input, about(cancellation));
    // A subagent's run ends by itself when it is aborted: the run that called it ends after it.
    const ending = tool.isSubagent || !isPromise(running) ? running : cancellation.race(running);
    const value = isPromise(ending) ? await ending : ending;
    return isAsyncIterable(value) ? await cancellation.race(collect(value, { cancellation })) : value;
  } catch (error) {
    cancellation.throwIfAborted();
    return new ToolAnswer(`The tool "${tool.name}" failed: ${messageOf(error)}`, { isError: true });
  }
}

// The tool's own signal follows the run's and aborts when its time is up; the answer does not wait for the tool to listen.
async function executeInTime(tool: Tool, input: unknown, options: RunToolOptions): Promise<unknown> {
  using own = new Cancellation(options.cancellation.signal);
  const late = new DOMException(`The tool "${tool.name}" took longer than ${tool.timeoutMs} ms.`, "TimeoutError");
  const timer = setTimeout(() => own.abort(late), tool.timeoutMs);
  try {
    return await execute(tool, input, { ...options, cancellation: own });
  } catch (error) {
    options.cancellation.throwIfAborted();
    if (error !== late) throw error;
    return new ToolAnswer(`${late.message} It was told to stop; its effect is unknown.`, { isError: true });
  } finally {
    clearTimeout(timer);
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as PromiseLike<unknown>).then === "function";
}

// A proxy may throw when it is asked what it is.
function isA<Kind>(value: unknown, kind: abstract new (...given: never[]) => Kind): value is Kind {
  try {
    return value instanceof kind;
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
  const { text, clippedBytes } = clip(textOfOutput(output), tool.maxResultBytes);
  return {
    toolCallId: call.id,
    toolName: call.name,
    input,
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

// A call that was not run, or whose result is not to be shown.
function failure(call: StepToolCall, problem: string, startedAt: number): ToolResult {
  const { text } = clip(problem, maxProblemBytes);
  const durationMs = performance.now() - startedAt;
  return { toolCallId: call.id, toolName: call.name, output: text, content: text, isError: true, durationMs };
}
