// The history of a run: the part of the conversation that is loaded, with the tool traces that are remembered, within a token budget.
import {
  type AssistantMessage,
  type Message,
  type ToolMessage,
  toolCallsOf,
  withoutProviderParts,
} from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import { textWithMarkers } from "../../models/content-parts.ts";
import type { RunLog, RunStart } from "../../sessions/ports/journal.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { clip } from "../../tools/clip.ts";
import type { Remember } from "../../tools/tool.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { Run } from "../run/run.ts";

const defaultHistory = 50;

/** The part of the conversation to load: the latest messages; with memory or compaction, those that they do not cover yet. */
export function historyToLoad({ request, agent }: Run): Pick<RunStart, "historyLimit" | "historyAfter"> {
  const { historyLimit: asked } = request.options;
  if (asked !== undefined || !agent.isShortened) return { historyLimit: asked ?? defaultHistory };
  const note = request.session && agent.viewNotes.of(request.session);
  return { historyLimit: undefined, historyAfter: note?.conversation.lastSaid || undefined };
}

/** The loaded conversation as the model will see it. */
export async function loadHistory({ agent, request }: Run, log: RunLog): Promise<Messages> {
  const history = await withToolHistory(log, agent);
  return Messages.from(withinTokens(history, request.options.historyTokens, agent.tokenCounter));
}

/** The newest whole turns within a token budget. The newest turn is included even if it exceeds the budget. */
export function withinTokens(
  history: readonly Message[],
  budget: number | undefined,
  counter: TokenCounter,
): readonly Message[] {
  if (budget === undefined) return history;
  let tokens = 0;
  let start = history.length;
  for (const [index, message] of [...history.entries()].reverse()) {
    tokens += counter.countMessage(message);
    if (message.role !== "user" || history[index - 1]?.role === "user") continue;
    if (tokens > budget && start < history.length) break;
    start = index;
  }
  return history.slice(start);
}

const digestBytes = 1024;

/** The conversation with the tool traces that the agent's `toolHistory`, or the `remember` of a tool, keeps. */
export async function withToolHistory(log: RunLog, config: AgentConfig): Promise<readonly Message[]> {
  if (!config.remembersTools || log.history.length === 0) return log.history;
  const runIds = new Set(log.history.map((message) => message.metadata?.runId).filter((id) => id !== undefined));
  const toolTraces = await log.toolTraces([...runIds]);
  const isMissing = notAmong(log.history);
  const placed = new Set<string>();
  return log.history.flatMap((message, index) => {
    const runId = message.metadata?.runId;
    if (runId === undefined || placed.has(runId) || !endsInput(log.history, index, runId)) return [message];
    placed.add(runId);
    const toolTrace = rememberedTrace((toolTraces.get(runId) ?? []).filter(isMissing), config);
    return message.role === "user" ? [message, ...toolTrace] : [...toolTrace, message];
  });
}

// A predicate for messages of a run that are not in its conversation too. A partial answer has the id of the message it was cut
// from, but no calls.
function notAmong(conversation: readonly Message[]): (message: Message) => boolean {
  const identityOf = (message: Message) => `${message.metadata?.id} ${toolCallsOf(message).length}`;
  const said = new Set(conversation.map(identityOf));
  return (message) => message.metadata?.id === undefined || !said.has(identityOf(message));
}

// True for the message after which the tool trace of a run belongs: between its input and its answer.
function endsInput(history: readonly Message[], index: number, runId: string): boolean {
  const next = history[index + 1];
  return history[index]?.role !== "user" || next?.role !== "user" || next.metadata?.runId !== runId;
}

function rememberedTrace(toolTrace: readonly Message[], config: AgentConfig): Message[] {
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
  return policy === "full"
    ? [message]
    : [{ ...message, content: clip(textWithMarkers(message.content), digestBytes).text }];
}
