// Sessions of the OpenAI Agents SDK and ours, each as the other. Structural: the SDK is not imported.
import { objectWith, shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { checkLimit, type SessionPort } from "../ports/session.ts";
import { itemsOf, messageOfItem, messagesOfItems, type OpenAiItem } from "./openai-items.ts";

/** A session as the OpenAI Agents SDK has it. */
export interface OpenAiSession<Item> {
  getSessionId(): Promise<string>;
  getItems(limit?: number): Promise<Item[]>;
  addItems(items: Item[]): Promise<void>;
  popItem(): Promise<Item | undefined>;
  clearSession(): Promise<void>;
}

const ours = objectWith("a session", "getItems", "addItems", "popItem", "clearSession");
const theirs = objectWith("a session of the OpenAI Agents SDK", "getSessionId", "getItems", "addItems", "popItem");

/**
 * Our session as one for the Runner of the OpenAI Agents SDK. Each item is one message, so tool calls are part of the conversation.
 * Items come back exactly as they were added.
 */
export function toOpenAiSession<Item extends object = OpenAiItem>(session: SessionPort): OpenAiSession<Item> {
  check("toOpenAiSession()", session, ours);
  const asItems = (messages: readonly Message[]): Item[] => messages.flatMap(itemsOf) as Item[];
  return {
    getSessionId: async () => session.sessionId,
    async getItems(limit) {
      const most = checkLimit(limit);
      // A message has at least one item, unless it is empty.
      const items = asItems(await session.getItems(most));
      return most === undefined ? items : most === 0 ? [] : items.slice(-most);
    },
    addItems: (items) => session.addItems(items.map(messageOfItem)),
    async popItem() {
      const message = await session.popItem();
      const items = message === undefined ? [] : asItems([message]);
      // A message of ours may be several items: only the newest is removed.
      if (items.length > 1) await session.addItems(items.slice(0, -1).map(messageOfItem));
      return items.at(-1);
    },
    clearSession: () => session.clearSession(),
  };
}

/** A session of the OpenAI Agents SDK as one for our agents. It stores the conversation, and no runs. */
export async function fromOpenAiSession<Item extends object>(session: OpenAiSession<Item>): Promise<SessionPort> {
  check("fromOpenAiSession()", session, theirs);
  return {
    sessionId: await session.getSessionId(),
    async getItems(limit) {
      const most = checkLimit(limit);
      return most === 0 ? [] : messagesOfItems(await session.getItems(most));
    },
    addItems: (messages) => session.addItems(messages.flatMap(itemsOf) as Item[]),
    async popItem() {
      const item = await session.popItem();
      return item === undefined ? undefined : messageOfItem(item);
    },
    clearSession: () => session.clearSession(),
    getItemCount: async () => messagesOfItems(await session.getItems()).length,
  };
}

function check(name: string, session: unknown, { isFit, words }: ReturnType<typeof objectWith>): void {
  if (isFit(session)) return;
  throw new OffstageError("invalid-argument", `${name} needs ${words}; found ${shownValue(session)}.`);
}
