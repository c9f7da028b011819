// Plain memories: a user's own with no more than the port's first five names, which takes messages one by one and gives text.
import { user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { turnsOf } from "./turns.ts";

/** The least that an agent needs of a memory. */
export interface PlainMemory {
  add(message: Message): Promise<void> | void;
  /** What to know for a query, as text. */
  getContext(query: string, tokenLimit?: number): Promise<string> | string;
  getAllMessages(): Promise<readonly Message[]> | readonly Message[];
  clear(): Promise<void> | void;
  readonly count: number | PromiseLike<number>;
}

/** The memory itself where it has all the names, else one that asks it. */
export function wholeMemory(memory: AgentMemory | PlainMemory): AgentMemory {
  if ("getMessages" in memory && typeof memory.getMessages === "function") return memory;
  const plain = memory as PlainMemory;
  return {
    async add(messages) {
      for (const message of [messages].flat() as Message[]) await plain.add(message);
    },
    getContext: async (query, tokenLimit) => plain.getContext(query, tokenLimit),
    // Its text stands before the newest turn, which is shown as it is.
    async getMessages(query, tokenLimit) {
      const text = await plain.getContext(query, tokenLimit);
      const all = await plain.getAllMessages();
      const newest = all.slice(turnsOf(all).at(-1)?.start ?? 0);
      return text === "" ? newest : [remembered(text), ...newest];
    },
    getAllMessages: async () => [...(await plain.getAllMessages())],
    clear: async () => plain.clear(),
    get count() {
      return plain.count;
    },
  };
}

// From the user's side, as summaries are: text of users and tools must not gain the weight of instructions.
function remembered(text: string): Message {
  return user(`[What is remembered of this conversation]\n\n${text}`, { metadata: { isSummary: true } });
}
