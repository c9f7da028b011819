// The tools of one step: each in a span, journaled, watched by guardrails, its events told. Results come in call order.
import type { ToolMessage } from "../messages/message.ts";
import type { StepToolCall, ToolResult } from "../state/step.ts";
import { runTool, type ToolGuard } from "../tools/run-tool.ts";
import { runTools } from "../tools/run-tools.ts";
import { startSpan, type TraceSpan } from "../tracing/trace-span.ts";
import { runInSpan } from "../tracing/with-span.ts";
import { checkGuardrails, type GuardrailTrip } from "./guardrails.ts";
import type { Run } from "./run.ts";
import { resultMessage } from "./step-messages.ts";
import { type CallingTool, callerKey } from "./subagent.ts";

export interface CallToolsOptions {
  readonly step: number;
  readonly span: TraceSpan;
}

/** What a call came to: the whole of it, and the message the model sees. */
export interface SettledCall {
  readonly result: ToolResult;
  readonly message: ToolMessage;
}

/** The results of the calls. Rejects only when the run is aborted or a guardrail fails. */
export async function callTools(
  run: Run,
  calls: readonly StepToolCall[],
  options: CallToolsOptions,
): Promise<SettledCall[]> {
  const messages = new Map<ToolResult, ToolMessage>();
  const results = await runTools(calls, run.config.maxParallelTools, async (call) => {
    const result = await callTool(run, call, options);
    const message = resultMessage(run, result, options.step);
    messages.set(result, message);
    if (run.log !== undefined) await run.log.settle(options.step, message);
    return result;
  });
  return results.map((result) => ({ result, message: messages.get(result) as ToolMessage }));
}

async function callTool(run: Run, call: StepToolCall, { step, span: parent }: CallToolsOptions): Promise<ToolResult> {
  const { runId, config, cancellation, context } = run;
  cancellation.throwIfAborted();
  const about = { toolCallId: call.id, toolName: call.name };
  const span = startSpan(parent, { name: call.name, kind: "tool" });
  run.emit?.({ type: "tool-start", runId, agent: config.name, step, ...about, call });
  try {
    const caller: CallingTool = { run, step, span, toolCallId: call.id };
    const told = { context, runId, step, agent: config.name, [callerKey]: caller };
    const result = await runInSpan(span, () =>
      runTool(call, { tools: config.tools, cancellation, about: told, guard: guardOf(run, step) }),
    );
    finishSpan(span, call, result);
    run.emit?.({ type: "tool-end", runId, agent: config.name, step, ...about, result });
    return result;
  } catch (error) {
    span.fail(error, cancellation.signal);
    throw error;
  }
}

function finishSpan(span: TraceSpan, call: StepToolCall, result: ToolResult): void {
  if (!span.recording) return;
  span.setMetadata({ toolCallId: call.id, isError: result.isError });
  span.setContent({ arguments: call.arguments, result: result.output });
  span.end(result.isError ? "error" : "ok");
}

function guardOf(run: Run, step: number): ToolGuard | undefined {
  const { toolInput, toolOutput } = run.config.guardrails;
  if (toolInput.length === 0 && toolOutput.length === 0) return undefined;
  return {
    input: async (call, input) => blocked(run, step, call, await check(run, "toolInput", toolInput, { call, input })),
    output: async (call, result) =>
      blocked(run, step, call, await check(run, "toolOutput", toolOutput, { call, result })),
  };
}

function check<Subject>(
  run: Run,
  stage: "toolInput" | "toolOutput",
  guardrails: Parameters<typeof checkGuardrails<Subject>>[0],
  subject: Subject,
) {
  const { context, cancellation, runId, config } = run;
  return checkGuardrails(guardrails, subject, {
    stage,
    context,
    signal: cancellation.signal,
    runId,
    agent: config.name,
  });
}

// The model is told that the call was blocked; the run goes on.
function blocked(run: Run, step: number, call: StepToolCall, trips: readonly GuardrailTrip[]): string | undefined {
  for (const trip of trips) tripped(run, { ...trip, toolCallId: call.id }, step);
  return trips.length === 0 ? undefined : trips.map((trip) => trip.message).join("\n");
}

/** Keeps and tells one trip. */
export function tripped(run: Run, trip: GuardrailTrip, step?: number): void {
  run.trips.push(trip);
  const place = step === undefined ? undefined : { step };
  run.emit?.({ type: "guardrail-trip", runId: run.runId, agent: run.config.name, ...place, trip });
}
