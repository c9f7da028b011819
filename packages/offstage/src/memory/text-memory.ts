// TextMemory: the smallest memory that an agent accepts. It takes messages one by one and returns text.
import { user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { turnsOf } from "./turns.ts";

/**
 * Every name of `AgentMemory` except `getMessages`. For memories of your own; each method may be synchronous.
 *
 * **Contract:** the context takes at most `tokenLimit` tokens. The newest turn follows it, unchanged and not counted.
 */
export interface TextMemory {
  add(message: Message): Promise<void> | void;
  /** The context for a query, as text. */
  getContext(query: string, tokenLimit?: number): Promise<string> | string;
  /** All messages, in any order. A message that is among them is not added again. */
  getAllMessages(): Promise<readonly Message[]> | readonly Message[];
  clear(): Promise<void> | void;
  readonly count: number | PromiseLike<number>;
}

/** True for a memory that chooses messages itself. */
export function choosesMessages(memory: AgentMemory | TextMemory): memory is AgentMemory {
  return typeof (memory as Partial<AgentMemory>).getMessages === "function";
}

/** Puts the text of a memory before the newest turn of the conversation, as a user message. */
export function withContext(text: unknown, conversation: readonly Message[]): Message[] {
  const newest = conversation.slice(turnsOf(conversation).at(-1)?.start ?? 0);
  if (typeof text !== "string" || text === "") return newest;
  // A user message, like summaries: text of users and tools must not gain the authority of instructions.
  const content = `[What is remembered of this conversation]\n\n${text}`;
  return [user(content, { metadata: { isSummary: true } }), ...newest];
}
