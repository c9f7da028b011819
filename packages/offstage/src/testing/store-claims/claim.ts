// The type of a claim about a store, and builders for runs that the claims share.
import type { AssistantMessage, Message, ToolMessage } from "../../messages/message.ts";
import type { RunEnd, RunLog, RunStart } from "../../sessions/ports/journal.ts";
import type { StepRecord } from "../../sessions/ports/run-record.ts";
import type { Store } from "../../sessions/store.ts";
import { noUsage } from "../../tokens/usage.ts";
import type { Claim } from "../contract-case.ts";

export type StoreClaim = Claim<Store>;

const at = "2026-01-01T00:00:00.000Z";

export const said = (content: string): Message => ({ role: "user", content });
export const answered = (content: string): Message => ({ role: "assistant", content });
export const texts = (messages: readonly Message[]): unknown[] => messages.map(({ content }) => content);

export function start(runId: string, input: string, options: Partial<RunStart> = {}): RunStart {
  return { runId, agent: "tester", startedAt: at, input: [said(input)], historyLimit: 50, onBusy: "queue", ...options };
}

export function calling(...ids: string[]): AssistantMessage {
  const tool_calls = ids.map((id) => ({ id, type: "function" as const, function: { name: "f", arguments: "{}" } }));
  return { role: "assistant", content: null, tool_calls };
}

export function resultOf(id: string, content = `result of ${id}`): ToolMessage {
  return { role: "tool", tool_call_id: id, name: "f", content };
}

export function step(n: number, messages: readonly Message[], more: Partial<StepRecord> = {}): StepRecord {
  return { step: n, messages, usage: noUsage, finishReason: "stop", startedAt: at, durationMs: 1, ...more };
}

export function ended(answer: string, more: Partial<RunEnd> = {}): RunEnd {
  const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
  return { status: "completed", reason: "finished", usage, endedAt: at, answer: [answered(answer)], ...more };
}

export async function open(store: Store, sessionId: string, runStart: RunStart): Promise<RunLog> {
  return store.session(sessionId).journal.open(runStart);
}

/** Records a whole turn: a call, its result, and the answer. */
export async function turn(store: Store, sessionId: string, n: number | string): Promise<RunLog> {
  const log = await open(store, sessionId, start(`run-${sessionId}-${n}`, `question ${n}`));
  await log.intend(1, calling(`call-${n}`));
  await log.step(step(1, [calling(`call-${n}`), resultOf(`call-${n}`)]));
  const answer = answered(`answer ${n}`);
  await log.end(ended("", { answer: [answer], lastStep: step(2, [answer]) }));
  return log;
}
