// The chat of the AI SDK, which `useChat` wraps, with the options of the docs: it posts approvals and answers, and nothing else.
import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { expect, test } from "vitest";
import * as z from "zod";
import { type FetchHandler, type Show, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { conversation, textsOf } from "./serving.ts";

class Chat extends AbstractChat<UIMessage> {}

function stateOf(messages: UIMessage[]): ChatState<UIMessage> {
  return {
    status: "ready",
    error: undefined,
    messages,
    pushMessage(message) {
      this.messages = [...this.messages, message];
    },
    popMessage() {
      this.messages = this.messages.slice(0, -1);
    },
    replaceMessage(index, message) {
      this.messages = this.messages.with(index, message);
    },
    snapshot: (thing) => structuredClone(thing),
  };
}

// Counts what the chat posts.
function open(handler: FetchHandler, messages: UIMessage[] = []) {
  const posted: unknown[] = [];
  const fetch = ((url: string, init: RequestInit) => {
    if (init.method === "POST") posted.push(init.body);
    return handler(new Request(url, init));
  }) as typeof globalThis.fetch;
  const chat = new Chat({
    id: "s",
    state: stateOf(messages),
    transport: new DefaultChatTransport({ api: "http://app.test/api/chat", fetch }),
    sendAutomaticallyWhen: (about) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(about) || lastAssistantMessageIsCompleteWithToolCalls(about),
  });
  const settled = () => expect.poll(() => chat.status).not.toMatch(/submitted|streaming/);
  return { chat, posted, settled };
}

const look = tool({ name: "look", execute: () => "seen" });
const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
const seats: unknown[] = [];
const book = tool({
  name: "book",
  execute: async (_, { ask }) => {
    seats.push(await ask({ message: "Which seat?", schema: z.object({ seat: z.string() }) }));
    return "booked";
  },
});

function serveCalls(names: string[], { show, maxSteps = 5 }: { show: Show; maxSteps?: number }) {
  const toolCalls = names.map((name) => ({ name, id: name }));
  const model = scriptedModel([{ toolCalls }, "All done."]);
  const agent = new Agent({ model, tools: [look, pay, book], maxSteps });
  return serve({ agent, store: memoryStore(), authorize: () => ({}), show });
}

const shows = [{ show: "conversation" }, { show: "trace" }, { show: () => "name" as const }] satisfies { show: Show }[];

test.for(shows)("an approval and an answer are posted once both are given (%o)", async ({ show }, { expect }) => {
  seats.length = 0;
  const { chat, posted, settled } = open(serveCalls(["look", "pay", "book"], { show }));
  await chat.sendMessage({ text: "Go." });
  await chat.addToolApprovalResponse({ id: "pay", approved: true });
  expect(posted).toHaveLength(1);
  await chat.addToolOutput({ tool: "book", toolCallId: "book", output: { seat: "12A" } });
  await expect.poll(() => textsOf(chat.lastMessage as UIMessage).at(-1)).toBe("All done.");
  await settled();
  expect(posted).toHaveLength(2);
  expect(seats).toEqual([{ seat: "12A" }]);
  expect(chat.error).toBeUndefined();
});

test.for(shows)("an answer is posted after a reload too (%o)", async ({ show }, { expect }) => {
  const handler = serveCalls(["look", "book"], { show });
  await open(handler).chat.sendMessage({ text: "Go." });
  const { chat, posted, settled } = open(handler, await conversation(handler, "s"));
  await chat.addToolOutput({ tool: "book", toolCallId: "book", output: { seat: "1" } });
  await expect.poll(() => textsOf(chat.lastMessage as UIMessage).at(-1)).toBe("All done.");
  await settled();
  expect(posted).toHaveLength(1);
  expect(chat.error).toBeUndefined();
});

test.for(shows)(
  "a run that a limit stopped after its tools makes it post nothing (%o)",
  async ({ show }, { expect }) => {
    for (const names of [["look"], ["pay"], ["book"]]) {
      const { chat, posted, settled } = open(serveCalls(names, { show, maxSteps: 1 }));
      await chat.sendMessage({ text: "Go." });
      const isAsked = names[0] !== "look";
      if (names[0] === "pay") await chat.addToolApprovalResponse({ id: "pay", approved: true });
      if (names[0] === "book") await chat.addToolOutput({ tool: "book", toolCallId: "book", output: { seat: "1" } });
      await expect.poll(() => chat.lastMessage?.metadata).toEqual({ status: "stopped", reason: "step-limit" });
      await settled();
      expect(posted).toHaveLength(isAsked ? 2 : 1);
      expect(chat.error).toBeUndefined();
    }
  },
);
