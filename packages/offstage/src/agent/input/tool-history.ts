// Tool history: what a later turn's model input shows of earlier turns' tools. From the journal, never from the conversation;
// the same journal gives the same bytes, so that provider caches hold.
import {
  type AssistantMessage,
  type Message,
  type ToolMessage,
  textOf,
  toolCallsOf,
  withoutProviderParts,
} from "../../messages/message.ts";
import type { RunLog } from "../../sessions/journal.ts";
import { notAmong } from "../../sessions/transcript.ts";
import { clip } from "../../tools/clip.ts";
import type { Remember } from "../../tools/tool.ts";
import type { AgentConfig } from "../config/agent-config.ts";

const digestBytes = 1024;

/** The conversation with the tool traces that the agent, or a tool of its own accord, wants remembered. */
export async function withToolHistory(log: RunLog, config: AgentConfig): Promise<readonly Message[]> {
  if (!config.remembersTools || log.history.length === 0) return log.history;
  const runIds = new Set(log.history.map((message) => message.metadata?.runId).filter((id) => id !== undefined));
  const toolTraces = await log.toolTraces([...runIds]);
  const isApart = notAmong(log.history);
  const placed = new Set<string>();
  return log.history.flatMap((message, index) => {
    const runId = message.metadata?.runId;
    if (runId === undefined || placed.has(runId) || !endsInput(log.history, index, runId)) return [message];
    placed.add(runId);
    const toolTrace = shown((toolTraces.get(runId) ?? []).filter(isApart), config);
    return message.role === "user" ? [message, ...toolTrace] : [...toolTrace, message];
  });
}

// A run's tool trace stands between its input and its answer.
function endsInput(history: readonly Message[], index: number, runId: string): boolean {
  const next = history[index + 1];
  return history[index]?.role !== "user" || next?.role !== "user" || next.metadata?.runId !== runId;
}

function shown(toolTrace: readonly Message[], config: AgentConfig): Message[] {
  const policies = new Map<string, Remember>();
  for (const message of toolTrace) {
    for (const call of toolCallsOf(message)) policies.set(call.id, policyOf(call.function.name, config));
  }
  return toolTrace.flatMap((message): Message[] => {
    if (message.role === "assistant") return rememberedReply(message, policies);
    return message.role === "tool" ? rememberedResult(message, policies.get(message.tool_call_id) ?? "none") : [];
  });
}

function policyOf(name: string, config: AgentConfig): Remember {
  return config.tools.get(name)?.remember ?? config.options.toolHistory ?? "none";
}

function rememberedReply(message: AssistantMessage, policies: ReadonlyMap<string, Remember>): Message[] {
  const calls = toolCallsOf(message).filter((call) => policies.get(call.id) !== "none");
  return calls.length === 0 ? [] : [{ ...withoutProviderParts(message), tool_calls: calls }];
}

function rememberedResult(message: ToolMessage, policy: Remember): Message[] {
  if (policy === "none") return [];
  return policy === "full" ? [message] : [{ ...message, content: clip(textOf(message), digestBytes).text }];
}
