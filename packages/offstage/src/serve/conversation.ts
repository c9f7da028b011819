// The conversation of a session as clients see it: what was said, and what waits for a person; tools only as far as `show` allows.
import { type Message, toolCallsOf } from "../messages/message.ts";
import type { PersistentSession } from "../sessions/persistent-session.ts";
import type { FoundRun } from "../sessions/records/run-reader.ts";
import { approvalDescriptor, errorTextOf } from "./protocols/ui-chunks.ts";
import { partsOf } from "./telling/message-parts.ts";
import {
  endingOf,
  type ServedApprovalRequest,
  type ServedEnding,
  type ServedEvent,
  type ServedMessage,
  type ServedToolEnd,
  type ServedToolPart,
} from "./telling/served-event.ts";
import type { Show } from "./telling/show.ts";
import { tellRecord } from "./telling/tell-record.ts";
import { Teller } from "./telling/teller.ts";

type Part = ServedMessage["parts"][number];

/** Waiting runs beyond this many are not shown. */
const maxWaiting = 20;

/** Of this many runs that were stopped or failed, the newest, is said how they ended. */
const maxEnded = 500;

/** The messages of a session. Unless only the conversation is shown, the runs behind the answers are read too. */
export async function readConversation(session: PersistentSession, show: Show): Promise<ServedMessage[]> {
  const [items, waiting, ended] = await Promise.all([
    session.getItems(),
    session.runs({ status: "waiting", limit: maxWaiting }),
    session.runs({ status: ["stopped", "failed"], limit: maxEnded }),
  ]);
  const messages: ServedMessage[] = [];
  const open = new Map(waiting.map(({ runId }) => [runId, runId]));
  const endings = new Map(ended.map((run) => [run.runId, endingOf(run.status, run.error?.code ?? run.reason)]));
  const used = new Set<string>();
  for (const [index, item] of items.entries()) {
    const message = await shownMessage(item, { index, session, show, used, endings });
    if (message !== undefined) messages.push(message);
    const runId = item.metadata?.runId;
    const isLastOfRun = items[index + 1]?.metadata?.runId !== runId;
    if (runId === undefined || !isLastOfRun) continue;
    if (open.delete(runId)) messages.push(...(await waitingMessage(session, runId, show)));
    else if (endings.has(runId) && !used.has(runId)) messages.push(await unanswered(session, runId, { show, endings }));
  }
  for (const runId of [...open.keys()].reverse()) messages.push(...(await waitingMessage(session, runId, show)));
  return messages;
}

type Endings = ReadonlyMap<string, ServedEnding | undefined>;

interface Showing {
  readonly index: number;
  readonly session: PersistentSession;
  readonly show: Show;
  /** The ids that earlier messages have. */
  readonly used: Set<string>;
  /** How runs ended that did not complete. */
  readonly endings: Endings;
}

// Instructions, tool results and text beside tool calls are not part of what was said.
async function shownMessage(
  message: Message,
  { index, session, show, used, endings }: Showing,
): Promise<ServedMessage | undefined> {
  const { role, metadata } = message;
  if (role !== "user" && role !== "assistant") return undefined;
  if (role === "assistant" && toolCallsOf(message).length > 0) return undefined;
  const runId = role === "assistant" ? metadata?.runId : undefined;
  const id = [runId, metadata?.id, `message-${index}`].find((each) => each !== undefined && !used.has(each)) as string;
  used.add(id);
  const run = id === runId && show !== "conversation" ? await session.run(runId) : undefined;
  const traced = run === undefined ? [] : await partsOfRun(session, run, show);
  // The steps of a run that has answered include the answer; other text is added to them.
  const isTold = show === "trace" && run?.status === "completed" && traced.length > 0;
  const parts = isTold ? traced : [...traced, ...partsOf(message)];
  const ending = id === runId ? endings.get(runId) : undefined;
  const isCut = metadata?.interrupted === true;
  if (!isCut && ending === undefined) return { id, role, parts };
  return { id, role, parts, metadata: { ...(isCut && { interrupted: true }), ...ending } };
}

// The message of a run that ended without an answer: it says how.
async function unanswered(
  session: PersistentSession,
  runId: string,
  { show, endings }: Pick<Showing, "show" | "endings">,
): Promise<ServedMessage> {
  const run = show === "conversation" ? undefined : await session.run(runId);
  const parts = run === undefined ? [] : await partsOfRun(session, run, show);
  return { id: runId, role: "assistant", parts, metadata: endings.get(runId) };
}

async function waitingMessage(session: PersistentSession, runId: string, show: Show): Promise<ServedMessage[]> {
  const run = await session.run(runId);
  if (run?.status !== "waiting") return [];
  const parts = await partsOfRun(session, run, show);
  return parts.length === 0 ? [] : [{ id: runId, role: "assistant", parts }];
}

// Drafts are told while they stream, and not again unless the trace is shown.
async function partsOfRun(session: PersistentSession, run: FoundRun, show: Show): Promise<Part[]> {
  const teller = new Teller(run.runId, show);
  const parts = assemble(await tellRecord(run, teller, { read: (id) => session.run(id) }));
  return show === "trace" ? parts : parts.filter(({ type }) => type !== "text");
}

/** The parts of the message that a client has after these events. */
function assemble(events: readonly ServedEvent[]): Part[] {
  const parts: Part[] = [];
  const replace = (toolCallId: string, change: (part: ServedToolPart) => ServedToolPart): void => {
    const index = parts.findIndex((part) => (part as ServedToolPart).toolCallId === toolCallId);
    if (index >= 0) parts[index] = change(parts[index] as ServedToolPart);
  };
  for (const event of events) {
    if (event.type === "text-delta") parts.push({ type: "text", text: event.delta });
    else if (event.type === "tool-start" || event.type === "approval-request") parts.push(toolPart(event));
    else if (event.type === "tool-end") replace(event.toolCallId, (part) => endPart(part, event));
  }
  return parts;
}

function toolPart(event: Extract<ServedEvent, { type: "tool-start" | "approval-request" }>): ServedToolPart {
  const { toolCallId, toolName, input = {} } = event;
  const type: ServedToolPart["type"] = `tool-${toolName}`;
  if (event.type === "tool-start") return { type, toolCallId, state: "input-available", input, providerExecuted: true };
  const descriptor = approvalDescriptor(event as ServedApprovalRequest);
  const approval = { id: toolCallId, ...(descriptor !== undefined && { descriptor }) };
  return { type, toolCallId, state: "approval-requested", input, approval };
}

function endPart(part: ServedToolPart, { status, output }: ServedToolEnd): ServedToolPart {
  if (status === "rejected") return { ...part, state: "output-denied" };
  if (status === "ok") return { ...part, state: "output-available", output: output ?? null };
  return { ...part, state: "output-error", errorText: errorTextOf({ status, output }) };
}
