// Text memories: a memory of the user with every name of the port but "getMessages". It takes messages one by one and gives text.
import { user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { turnsOf } from "./turns.ts";

/**
 * The least that an agent needs of a memory.
 *
 * **Contract:** the context takes at most `tokenLimit` tokens; the newest turn is shown behind it as it is, on top of that.
 */
export interface TextMemory {
  add(message: Message): Promise<void> | void;
  /** What to know for a query, as text. */
  getContext(query: string, tokenLimit?: number): Promise<string> | string;
  /** What is held, in any order: a message that is among them is not added again. */
  getAllMessages(): Promise<readonly Message[]> | readonly Message[];
  clear(): Promise<void> | void;
  readonly count: number | PromiseLike<number>;
}

/** True for a memory that chooses messages itself. */
export function choosesMessages(memory: AgentMemory | TextMemory): memory is AgentMemory {
  return typeof (memory as Partial<AgentMemory>).getMessages === "function";
}

/** A text that a memory gave, as a message before the newest turn of the conversation. */
export function withContext(text: unknown, conversation: readonly Message[]): Message[] {
  const newest = conversation.slice(turnsOf(conversation).at(-1)?.start ?? 0);
  if (typeof text !== "string" || text === "") return newest;
  // From the user's side, as summaries are: text of users and tools must not gain the weight of instructions.
  const content = `[What is remembered of this conversation]\n\n${text}`;
  return [user(content, { metadata: { isSummary: true } }), ...newest];
}
