// Records whole runs for claims about the record: with a tool, a model, tokens, times and a subagent, as an agent would.
import type { AssistantMessage, Message, ToolMessage } from "../../messages/message.ts";
import type { RunEnd, RunLog, RunStart } from "../../sessions/ports/journal.ts";
import type { InputSetup, StepRecord } from "../../sessions/ports/run-record.ts";
import type { Store } from "../../sessions/store.ts";
import type { Usage } from "../../tokens/usage.ts";

/** A run to record. */
export interface RunToRecord {
  readonly session: string;
  readonly runId: string;
  readonly question: string;
  readonly answer?: string | undefined;
  /** Default "desk". */
  readonly agent?: string | undefined;
  /** Default "small". */
  readonly model?: string | undefined;
  /** Default "look". */
  readonly tool?: string | undefined;
  /** The result of the tool. Default: "found <question>". */
  readonly result?: string | undefined;
  readonly isError?: boolean | undefined;
  /** When it began, ISO 8601. Default: midnight of 2026-01-01. */
  readonly at?: string | undefined;
  /** How long it took. Default 100. */
  readonly durationMs?: number | undefined;
  /** Input tokens of each of its two steps; a tenth is their output. Default 10. */
  readonly tokens?: number | undefined;
  /** Of each step, in US dollars. */
  readonly cost?: number | undefined;
  readonly status?: RunEnd["status"] | undefined;
  /** The agent of a subagent's run with one step and as many tokens, which the tool calls. */
  readonly subagent?: string | undefined;
  /** Leaves the run without an end. */
  readonly isOpen?: boolean | undefined;
}

const setup: InputSetup = { modelId: "small", provider: "offstage", tools: [], settings: {} };

/** Records a run: its question, one tool call, and its answer. */
export async function recordRun(store: Store, asked: RunToRecord): Promise<RunLog> {
  const { session, runId, question, agent = "desk", model = "small", tool = "look", isError, subagent } = asked;
  const { at = "2026-01-01T00:00:00.000Z", answer = `answer to ${question}`, result = `found ${question}` } = asked;
  const stamp = stampOf({ runId, agent, at });
  const input: Message = { role: "user", content: question, metadata: stamp("user") };
  const log = await store.session(session).journal.open({ ...startOf(asked, at), agent, model, input: [input] });
  const callId = `${runId}.call`;
  const call: AssistantMessage = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: callId, type: "function", function: { name: tool, arguments: "{}" } }],
    metadata: stamp("call", 1),
  };
  await log.intend(1, call);
  const childRunId = subagent === undefined ? undefined : `${runId}.child`;
  if (subagent !== undefined) await recordChild(log, { ...asked, agent: subagent, runId: childRunId ?? "", at });
  const settled: ToolMessage = {
    role: "tool",
    tool_call_id: callId,
    name: tool,
    content: result,
    metadata: { ...stamp("result", 1), durationMs: 5, ...(isError && { isError }), ...(childRunId && { childRunId }) },
  };
  await log.settle(1, settled);
  const instructions: Message = { role: "system", content: `You are ${agent}.` };
  await log.step({
    ...stepOf(asked, 1, at),
    messages: [call, settled],
    input: { setup, messages: [instructions, input] },
  });
  if (asked.isOpen) return log;
  const said: Message = { role: "assistant", content: answer, metadata: stamp("answer", 2) };
  const lastStep = { ...stepOf(asked, 2, at), messages: [said], input: { setup } };
  const steps = subagent === undefined ? 2 : 3;
  await log.end({ ...endOf(asked, { steps, at }), answer: [said], lastStep });
  return log;
}

// A subagent's run with one step.
async function recordChild(parent: RunLog, asked: RunToRecord & { readonly agent: string; readonly at: string }) {
  const { runId, agent, at, question } = asked;
  const stamp = stampOf({ runId, agent, at, parentRunId: parent.runId });
  const input: Message = { role: "user", content: `please: ${question}`, metadata: stamp("user") };
  const start = startOf(asked, at);
  const parentToolCallId = `${parent.runId}.call`;
  const log = await parent.child({ ...start, agent, model: asked.model ?? "small", parentToolCallId, input: [input] });
  const said: Message = { role: "assistant", content: `${agent} did it`, metadata: stamp("answer", 1) };
  const lastStep = { ...stepOf(asked, 1, at), messages: [said], input: { setup, messages: [input] } };
  await log.end({ ...endOf({ ...asked, status: undefined }, { steps: 1, at }), answer: [said], lastStep });
}

function startOf({ runId }: RunToRecord, startedAt: string): Omit<RunStart, "agent" | "input"> {
  return { runId, isFresh: true, provider: "offstage", startedAt, historyLimit: 50, onBusy: "queue" };
}

interface Stamped {
  readonly runId: string;
  readonly agent: string;
  readonly at: string;
  readonly parentRunId?: string;
}

function stampOf({ runId, agent, at, parentRunId }: Stamped) {
  return (name: string, step?: number) => ({
    id: `${runId}.${name}`,
    runId,
    agent,
    createdAt: at,
    ...(parentRunId !== undefined && { parentRunId }),
    ...(step !== undefined && { step }),
  });
}

function usageOf({ tokens = 10 }: RunToRecord, steps: number): Usage {
  const [inputTokens, outputTokens] = [tokens * steps, Math.floor(tokens / 10) * steps];
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function stepOf(asked: RunToRecord, step: number, startedAt: string): Omit<StepRecord, "messages"> {
  const { model = "small", cost, durationMs = 100 } = asked;
  const usage = usageOf(asked, 1);
  return {
    step,
    usage,
    cost,
    model,
    provider: "offstage",
    finishReason: "stop",
    startedAt,
    durationMs: durationMs / 2,
  };
}

function endOf(asked: RunToRecord, { steps, at }: { readonly steps: number; readonly at: string }) {
  const { status = "completed", cost, durationMs = 100 } = asked;
  return {
    status,
    reason: status,
    usage: usageOf(asked, steps),
    cost: cost === undefined ? undefined : cost * steps,
    endedAt: new Date(Date.parse(at) + durationMs).toISOString(),
    ...(status === "failed" && { error: { code: "model-failed", message: "the provider is down" } }),
  };
}
