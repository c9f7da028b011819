// The small parts that scenarios share: tools that answer, fail or hang, and short summaries of messages.
import { z } from "zod";
import { type AgentMemory, type Message, type Tool, tool, user } from "../../src/index.ts";
import type { ScriptedReply, ScriptedToolCall } from "../../src/testing/index.ts";

/** A tool that returns its input. */
export const echo: Tool = tool({
  name: "echo",
  description: "Says it back.",
  input: z.object({ text: z.string() }),
  execute: ({ text }) => `echo ${text}`,
});

/** A tool that throws. */
export const broken: Tool = tool({
  name: "broken",
  execute() {
    throw new Error("the pipe burst");
  },
});

/** A tool that never returns, but stops when aborted. */
export const patient: Tool = tool({
  name: "patient",
  execute: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    }),
});

/** A tool that never returns and ignores aborts. */
export const deaf: Tool = tool({ name: "deaf", execute: () => new Promise(() => {}) });

/** A reply with only tool calls. */
export function calls(...toolCalls: readonly ScriptedToolCall[]): ScriptedReply {
  return { toolCalls };
}

/** A call of `echo`. */
export function echoing(text: string, id?: string): ScriptedToolCall {
  return { name: "echo", input: { text }, ...(id === undefined ? undefined : { id }) };
}

/** Summarises each message in a line: "user: hello", "assistant: [echo] words", "tool: result". */
export function glance(messages: Iterable<Message>): string[] {
  return [...messages].map((message) => {
    const called = (message.role === "assistant" ? (message.tool_calls ?? []) : []).map((each) => each.function.name);
    return [`${message.role}:`, ...(called.length > 0 ? [`[${called.join(" ")}]`] : []), ...words(message)].join(" ");
  });
}

function words({ content }: Message): string[] {
  return typeof content === "string" && content !== "" ? [content] : [];
}

/** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A memory that stores nothing and always returns one question: Go. */
export function quietMemory(): AgentMemory {
  return {
    add: async () => {},
    getContext: async () => "",
    getMessages: async () => [user("Go")],
    getAllMessages: async () => [],
    clear: async () => {},
    count: 0,
  };
}
