// The history of a run: the part of the conversation that is loaded, in whole turns, within a token budget; and the tool history, which
// is how much a turn sees of the tools of earlier turns. Tool history is part of the model input only: the state stays clean.

import { isObject, parseArguments } from "../../base/json.ts";
import {
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
  textOf,
  toolCallsOf,
  withoutProviderParts,
} from "../../messages/message.ts";
import { type MessageStore, Messages } from "../../messages/messages.ts";
import { textWithMarkers, withoutFiles } from "../../models/content-parts.ts";
import type { RunLog, RunStart } from "../../sessions/ports/journal.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { clip } from "../../tools/json-safe.ts";
import type { Remember } from "../../tools/tool.ts";
import type { HistoryCut } from "../ports/run-result.ts";
import type { Run } from "../run/run.ts";
import type { ToolHistoryView } from "../run/run-parts.ts";

const defaultHistory = 50;

/** The part of the conversation to load: the latest messages; with memory or compaction, those that they do not cover yet. */
export function historyToLoad({ request, agent }: Run): Pick<RunStart, "historyLimit" | "historyAfter"> {
  const { historyLimit: asked } = request.options;
  if (asked !== undefined || !agent.isShortened) return { historyLimit: asked ?? defaultHistory };
  const note = request.session && agent.viewNotes.of(request.session);
  return { historyLimit: undefined, historyAfter: note?.conversation.lastSaid || undefined };
}

/**
 * The conversation of the session before the input of the run, as much as the model may see, and the tool history of what it sees.
 * A state of the caller is not cut.
 */
export async function loadHistory(run: Run, log: RunLog): Promise<readonly Message[]> {
  const { agent, request, state, input } = run;
  const { historyTokens: budget } = request.options;
  const toolHistory = await readToolHistory(run, log, [...log.history, ...state.messages]);
  input.toolHistory = toolHistory;
  const counted = budget === undefined ? log.history : toolHistory.inConversation(log.history);
  const within = new Set(withinTokens(counted, budget, agent.tokenCounter));
  const history = log.history.filter((message) => within.has(message));
  input.historyCut = request.hasOwnState ? undefined : cutOf(run, log, history.length);
  return history;
}

// With memory or compaction and no limit, messages that are not loaded are covered by a summary or chosen by the memory.
function cutOf(run: Run, { earlierCount, history }: RunLog, shown: number): HistoryCut | undefined {
  const { historyLimit } = historyToLoad(run);
  const count = historyLimit === undefined ? history.length : (earlierCount ?? history.length);
  if (count <= shown) return undefined;
  return { shown, notShown: count - shown, limit: shown < history.length ? "historyTokens" : "historyLimit" };
}

/** Tells listeners that a limit cut off the beginning of the conversation, if it did. */
export function announceCut({ input, record }: Run): void {
  if (input.historyCut !== undefined) record.emit?.({ type: "history-cut", ...input.historyCut });
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

/** The most bytes that a digest shows of the result, the arguments or the text of one call. */
const digestBytes = 1024;
/** The most bytes of all results in the digest of one turn, before each is clipped to its share. */
const turnBytes = 16 * 1024;
const leastBytes = 128;

type Policies = ReadonlyMap<string, Remember>;

/**
 * The tool traces of earlier runs, as later turns see them. The same record gives the same bytes in every turn and every process, so
 * that provider caches work.
 */
class ToolHistory implements ToolHistoryView {
  readonly #traces: ReadonlyMap<string, readonly Message[]>;
  /** The conversation of the latest call, and the same with the traces. */
  #latest: { readonly conversation: Messages; readonly shown: Messages } | undefined;

  constructor(traces: ReadonlyMap<string, readonly Message[]> = new Map()) {
    this.#traces = traces;
  }

  // Costs only what was added, while the conversation only grows.
  shownIn(store: MessageStore): MessageStore {
    if (this.#traces.size === 0) return store;
    const conversation = store.section(AgentState.DEFAULT_SECTION);
    const before = this.#latest;
    const isGrown = before !== undefined && before.conversation.length > 0 && conversation.extends(before.conversation);
    const shown = isGrown
      ? before.shown.append(conversation.toArray(before.conversation.length))
      : Messages.from(this.inConversation(conversation.toArray()));
    this.#latest = { conversation, shown };
    return store.withSection(AgentState.DEFAULT_SECTION, shown);
  }

  /** The conversation with each trace between the input and the answer of its run. */
  inConversation(conversation: readonly Message[]): readonly Message[] {
    return this.#place(conversation, (index, runId) => endsInput(conversation, index, runId));
  }

  // A memory may return an answer without its question.
  inMemory(messages: readonly Message[]): readonly Message[] {
    return this.#place(messages, (index) => messages[index]?.role === "assistant");
  }

  #place(list: readonly Message[], isPlace: (index: number, runId: string) => boolean): readonly Message[] {
    const placed = new Set<string>();
    return list.flatMap((message, index) => {
      const runId = message.metadata?.runId ?? "";
      const trace = this.#traces.get(runId);
      if (trace === undefined || placed.has(runId) || !isPlace(index, runId)) return [message];
      placed.add(runId);
      return message.role === "user" ? [message, ...trace] : [...trace, message];
    });
  }
}

/** Reads the tool history of a conversation. It is empty if the agent has no tools or remembers none. */
async function readToolHistory(run: Run, log: RunLog, conversation: readonly Message[]): Promise<ToolHistory> {
  const ids = new Set(conversation.flatMap(({ metadata }) => metadata?.runId ?? []));
  ids.delete(log.runId);
  if (!remembersTools(run) || ids.size === 0) return new ToolHistory();
  const traces = await log.toolTraces([...ids]);
  const said = identitiesOf(conversation);
  const shown = [...traces].map(([runId, trace]) => [runId, rememberedTrace(trace, said, run)] as const);
  return new ToolHistory(new Map(shown.filter(([, trace]) => trace.length > 0)));
}

// With `persist: "everything"`, messages of a trace are in the conversation too. A partial answer has the id of the message that it
// was cut from, but no calls.
function identitiesOf(messages: readonly Message[]): ReadonlySet<string> {
  const calls = messages.map(toolCallsOf);
  return new Set(messages.map(({ metadata }, index) => `${metadata?.id} ${calls[index]?.length}`));
}

// True for the message after which the tool trace of a run belongs: between its input and its answer.
function endsInput(history: readonly Message[], index: number, runId: string): boolean {
  const next = history[index + 1];
  return history[index]?.role !== "user" || next?.role !== "user" || next.metadata?.runId !== runId;
}

function rememberedTrace(trace: readonly Message[], said: ReadonlySet<string>, run: Run): Message[] {
  const calls = trace.map(toolCallsOf);
  const policies = new Map(calls.flat().map((call) => [call.id, policyOf(call.function.name, run)]));
  const digests = [...policies.values()].filter((policy) => policy === "digest").length;
  const budget = Math.max(leastBytes, Math.min(digestBytes, Math.floor(turnBytes / Math.max(1, digests))));
  return trace.flatMap((message, index): Message[] => {
    const { id } = message.metadata ?? {};
    const own = calls[index] ?? [];
    if (id !== undefined && said.has(`${id} ${own.length}`)) return [];
    if (message.role === "tool") return rememberedResult(message, policies, budget);
    if (message.role !== "assistant") return [];
    const isSaid = id !== undefined && said.has(`${id} 0`);
    return rememberedReply(message, own, { policies, budget, isSaid });
  });
}

function policyOf(name: string, run: Run): Remember {
  return run.input.setup.tools.get(name)?.remember ?? run.agent.toolHistory;
}

// Providers refuse calls in a prompt without tools.
function remembersTools(run: Run): boolean {
  const { toolHistory } = run.agent;
  return [...run.input.setup.tools.values()].some(({ remember = toolHistory }) => remember !== "none");
}

interface ReplyOptions {
  readonly policies: Policies;
  readonly budget: number;
  /** True if its text is the partial answer of its run, which the conversation shows. */
  readonly isSaid: boolean;
}

// A message of which nothing changes stays the same object, so that the record of model input refers to it.
function rememberedReply(message: AssistantMessage, all: readonly ToolCall[], options: ReplyOptions): Message[] {
  const { policies, budget, isSaid } = options;
  const calls = all.filter((call) => policies.get(call.id) !== "none");
  if (calls.length === 0) return [];
  const isFull = calls.some((call) => policies.get(call.id) === "full");
  const shown = calls.map((call) => (policies.get(call.id) === "full" ? call : clippedCall(call, budget)));
  const isSame = shown.length === all.length && shown.every((call, index) => call === all[index]);
  const bare = withoutProviderParts(isSame ? message : { ...message, tool_calls: shown });
  if (isSaid) return [{ ...bare, content: null }];
  const text = textOf(message);
  const clipped = isFull ? text : clip(text, budget).text;
  return [clipped === text ? bare : { ...bare, content: clipped }];
}

function rememberedResult(message: ToolMessage, policies: Policies, budget: number): Message[] {
  const policy = policies.get(message.tool_call_id) ?? "none";
  if (policy === "none") return [];
  const bare = typeof message.content === "string" ? message : withoutFiles(message);
  const text = typeof bare.content === "string" ? bare.content : textWithMarkers(bare.content);
  const clipped = policy === "full" ? text : clip(text, budget).text;
  return [clipped === text ? bare : { ...bare, content: clipped }];
}

// Arguments stay valid JSON, with the same fields.
function clippedCall(call: ToolCall, budget: number): ToolCall {
  const { arguments: text } = call.function;
  const bytes = Buffer.byteLength(text);
  if (bytes <= budget) return call;
  const input = parseArguments(text) ?? null;
  const shares = [4, 16, 64].map((part) => JSON.stringify(clippedValue(input, Math.floor(budget / part))));
  const fitting = shares.find((clipped) => Buffer.byteLength(clipped) <= budget);
  return {
    ...call,
    function: { ...call.function, arguments: fitting ?? JSON.stringify({ clipped: `${bytes} bytes` }) },
  };
}

function clippedValue(value: unknown, budget: number): unknown {
  if (typeof value === "string") return clip(value, budget).text;
  if (Array.isArray(value)) return value.map((each) => clippedValue(each, budget));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, clippedValue(each, budget)]));
}
