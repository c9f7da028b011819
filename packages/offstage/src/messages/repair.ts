// Repair: makes any list of messages valid for every provider. Pure: for the outgoing copy, never for the stored messages.
import { isObject } from "../base/json.ts";
import {
  type AssistantMessage,
  type Content,
  type ContentPart,
  checkList,
  type Message,
  type MessageMetadata,
  type ToolCall,
  type ToolMessage,
} from "./message.ts";
import { Messages } from "./messages.ts";
import { hasContent, isArgumentsText, isContent, isName, PairingCheck } from "./pairing.ts";

const interruptedText = "This tool call was interrupted: no result was recorded and its effect is unknown.";
const unreadableText = "This tool call was not run: its arguments were not a JSON object.";

/**
 * Returns the messages, valid for every provider: each result follows the call it answers, every call has a result, ids are present and
 * unique, arguments are JSON objects. Idempotent and linear; returns valid input as the same object.
 */
export function repairMessages(messages: Messages): Messages;
export function repairMessages(messages: readonly Message[]): readonly Message[];
export function repairMessages(messages: Messages | readonly Message[]): Messages | readonly Message[] {
  checkList(messages, "messages");
  const list: readonly Message[] = Array.isArray(messages) ? messages : [...messages];
  const repaired = new PairingCheck().accepts(list) ? list : rebuild(list);
  if (!(messages instanceof Messages)) return repaired;
  return repaired === list ? messages : Messages.from(repaired);
}

/** One call, and the index of the result that answers it. */
interface Slot {
  readonly call: ToolCall;
  answeredAt?: number;
}

function rebuild(list: readonly Message[]): Message[] {
  const slots = list.map(slotsOf);
  pairResults(list, slots);
  const mint = idMinter(list);
  return list.flatMap((message, index) => {
    if (!isObject(message) || (message as Message).role === "tool") return [];
    if ((message as Message).role !== "assistant") return rebuildOther(message);
    return rebuildAssistant(message as AssistantMessage, slots[index] ?? [], { list, mint });
  });
}

function slotsOf(message: Message): Slot[] | undefined {
  if (!isObject(message) || message.role !== "assistant" || !Array.isArray(message.tool_calls)) return undefined;
  return message.tool_calls.filter(isObject).map((call) => ({ call: call as unknown as ToolCall }));
}

// A result answers the nearest call before it that has its id and no result yet; within one message the first such call. A result that
// answers none of these answers a later call: the list was out of order.
function pairResults(list: readonly Message[], slots: readonly (Slot[] | undefined)[]): void {
  const waiting = new Map<unknown, Slot[][]>();
  const early: number[] = [];
  list.forEach((message, index) => {
    for (const [id, group] of groupById(slots[index] ?? [])) pushTo(waiting, id, group);
    if (isObject(message) && (message as Message).role === "tool" && !answer(waiting, list, index)) early.push(index);
  });
  for (const index of early) answer(waiting, list, index);
}

// Groups are reversed, so that pop() takes the first call.
function groupById(slots: readonly Slot[]): Map<unknown, Slot[]> {
  const groups = new Map<unknown, Slot[]>();
  for (let i = slots.length - 1; i >= 0; i--) {
    const slot = slots[i] as Slot;
    pushTo(groups, keyOf(slot.call.id), slot);
  }
  return groups;
}

function pushTo<T>(map: Map<unknown, T[]>, key: unknown, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function keyOf(id: unknown): unknown {
  return id ?? "";
}

function answer(waiting: Map<unknown, Slot[][]>, list: readonly Message[], index: number): boolean {
  const groups = waiting.get(keyOf((list[index] as ToolMessage).tool_call_id));
  const group = groups?.at(-1);
  const slot = group?.pop();
  if (groups === undefined || group === undefined || slot === undefined) return false;
  if (group.length === 0) groups.pop();
  slot.answeredAt = index;
  return true;
}

function rebuildOther(message: Message): Message[] {
  if (message.role !== "system" && message.role !== "user") return [];
  const content = readable(message.content);
  if (content === undefined) return [];
  return [content === message.content ? message : { ...message, content, metadata: marked(message, "content") }];
}

// Returns content as it is, a mixed list as its parts and bare texts, and undefined for anything else.
function readable(content: unknown): Content | undefined {
  if (isContent(content)) return content as Content;
  return Array.isArray(content) ? content.flatMap(partsOf) : undefined;
}

function partsOf(part: unknown): ContentPart[] {
  if (typeof part === "string") return [{ type: "text", text: part }];
  return isObject(part) ? [part as unknown as ContentPart] : [];
}

interface Rebuilding {
  readonly list: readonly Message[];
  readonly mint: (id: unknown) => string;
}

function rebuildAssistant(message: AssistantMessage, slots: readonly Slot[], { list, mint }: Rebuilding): Message[] {
  const { tool_calls: given, ...bare } = message;
  const content = readable(message.content) ?? null;
  if (slots.length === 0) {
    if (!hasContent(content)) return [];
    if (content !== message.content) return [{ ...bare, content, metadata: marked(message, "content") }];
    return [given === undefined ? message : { ...bare, metadata: marked(message, "tool_calls") }];
  }
  const calls = slots.map(({ call }) => rebuildCall(call, mint));
  const sameCalls = calls.length === given?.length && calls.every((call, i) => call === given[i]);
  const sameContent = content === (message.content ?? null);
  const head =
    sameCalls && sameContent
      ? message
      : { ...bare, content, tool_calls: calls, metadata: marked(message, sameCalls ? "content" : "tool_calls") };
  const order = slots.map((_, i) => i).sort((a, b) => placeOf(slots[a]) - placeOf(slots[b]) || a - b);
  return [head, ...order.map((i) => rebuildResult(list, slots[i] as Slot, calls[i] as ToolCall))];
}

function placeOf(slot: Slot | undefined): number {
  return slot?.answeredAt ?? Number.MAX_SAFE_INTEGER;
}

function rebuildCall(call: ToolCall, mint: Rebuilding["mint"]): ToolCall {
  const id = mint(call.id);
  const called: Partial<ToolCall["function"]> = isObject(call.function) ? call.function : {};
  const { name, arguments: text } = called;
  const parses = isArgumentsText(text);
  if (id === call.id && call.type === "function" && parses && isName(name)) return call;
  return {
    ...call,
    id,
    type: "function",
    function: {
      ...called,
      name: isName(name) ? name : "unknown_tool",
      arguments: parses ? (text as string) : "{}",
    },
  };
}

function rebuildResult(list: readonly Message[], slot: Slot, call: ToolCall): ToolMessage {
  if (slot.answeredAt === undefined) return syntheticResult(slot, call);
  const result = list[slot.answeredAt] as ToolMessage;
  const content = readable(result.content) ?? "";
  const sameId = result.tool_call_id === call.id;
  if (sameId && content === result.content) return result;
  return { ...result, tool_call_id: call.id, content, metadata: marked(result, sameId ? "content" : "tool_call_id") };
}

function syntheticResult(slot: Slot, call: ToolCall): ToolMessage {
  const readable = isArgumentsText(slot.call.function?.arguments);
  return {
    role: "tool",
    tool_call_id: call.id,
    name: call.function.name,
    content: readable ? interruptedText : unreadableText,
    metadata: { isError: true, interrupted: readable, repaired: "result" },
  };
}

function marked(message: Message, what: string): MessageMetadata {
  return { ...(isObject(message.metadata) ? message.metadata : undefined), repaired: what };
}

// Returns an id as it is the first time, and a new one for an empty or repeated id. New ids depend on the list alone, and
// have the nine letters and digits that the strictest provider requires.
function idMinter(list: readonly Message[]): (id: unknown) => string {
  const taken = new Set<unknown>();
  for (const message of list) {
    if (!isObject(message)) continue;
    if (Array.isArray(message.tool_calls)) for (const call of message.tool_calls) taken.add(call?.id);
  }
  const used = new Set<string>();
  let count = 0;
  return (id) => {
    let unique = isName(id) && !used.has(id) ? id : "";
    while (unique === "") {
      const next = `rep${(++count).toString(36).padStart(6, "0")}`;
      if (!taken.has(next)) unique = next;
    }
    used.add(unique);
    return unique;
  };
}
