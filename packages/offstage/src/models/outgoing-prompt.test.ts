import { describe, expect, test } from "vitest";
import type { PromptMessage } from "./model.ts";
import { OutgoingPrompt } from "./outgoing-prompt.ts";
import { rulesOf } from "./provider-rules.ts";

const user = (text: string): PromptMessage => ({ role: "user", content: [{ type: "text", text }] });
const said = (text: string): PromptMessage => ({ role: "assistant", content: [{ type: "text", text }] });
const system = (content: string): PromptMessage => ({ role: "system", content });
const calls = (...ids: readonly string[]): PromptMessage => ({
  role: "assistant",
  content: ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "weather", input: {} })),
});
const result = (toolCallId: string): PromptMessage => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "weather", output: { type: "text", value: "sunny" } }],
});

function sent(provider: string, ...messages: readonly PromptMessage[]): PromptMessage[] {
  const prompt = new OutgoingPrompt(rulesOf(provider));
  prompt.add(messages.map((message) => ({ prompt: message })));
  return prompt.messages;
}

const outline = (messages: readonly PromptMessage[]): string[] =>
  messages.map(({ role, content }) => (typeof content === "string" ? role : `${role} ${content.length}`));

describe("tool results", () => {
  test("neighbours become one message, for every provider", () => {
    const messages = [user("hi"), calls("a", "b"), result("a"), result("b"), said("done")];
    expect(outline(sent("", ...messages))).toEqual(["user 1", "assistant 2", "tool 2", "assistant 1"]);
  });

  test("a message that was handed out does not grow", () => {
    const prompt = new OutgoingPrompt(rulesOf(""));
    prompt.add([user("hi"), calls("a", "b"), result("a")].map((message) => ({ prompt: message })));
    const before = prompt.messages.at(-1);
    prompt.add([{ prompt: result("b") }]);
    expect(outline([before as PromptMessage, ...prompt.messages.slice(-1)])).toEqual(["tool 1", "tool 2"]);
  });

  test("10,000 results of one step take linear time", () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `c${n}`);
    const startedAt = performance.now();
    expect(outline(sent("", user("hi"), calls(...ids), ...ids.map(result)))).toContain("tool 10000");
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

describe("system messages", () => {
  const messages = [system("be brief"), system("be kind"), user("hi"), system("it is late"), said("ok")];

  test("stay where they are if the provider takes them anywhere", () => {
    expect(sent("openai.chat", ...messages)).toEqual(messages);
  });

  test.for(["google.generative-ai", "amazon-bedrock", "anthropic.messages", "mistral.chat"])(
    "in the middle are user messages for %s, marked as such",
    (provider) => {
      const prompt = sent(provider, ...messages);
      expect(prompt.map(({ role }) => role)).toEqual(["system", "system", "user", "user", "assistant"]);
      expect(prompt[3]).toEqual(user("[System message]\nit is late"));
    },
  );
});

describe("the order of messages", () => {
  test("Mistral gets an assistant message between a tool result and a user message", () => {
    const messages = [user("hi"), calls("abcdefgh1"), result("abcdefgh1"), user("more")];
    expect(sent("mistral.chat", ...messages).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(sent("openai.chat", ...messages)).toHaveLength(4);
  });

  test.for(["google.generative-ai", "amazon-bedrock", "anthropic.messages"])(
    "%s gets a user message in front of an assistant message, behind the instructions",
    (provider) => {
      const prompt = sent(provider, system("be brief"), said("Welcome!"), user("hi"));
      expect(prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    },
  );
});

describe("ids and names", () => {
  test("that the provider refuses change in pairs", () => {
    const [, call, answer] = sent(
      "mistral.chat",
      user("hi"),
      calls("functions.weather:0"),
      result("functions.weather:0"),
    );
    const ids = [call, answer].map(
      (message) => (message?.content[0] as { toolCallId?: string } | undefined)?.toolCallId,
    );
    expect(ids[0]).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(ids[1]).toBe(ids[0]);
  });

  test("of a provider's own tools stay as they are", () => {
    const own = {
      type: "tool-call",
      toolCallId: "srvtoolu_1.2",
      toolName: "web.search",
      input: {},
      providerExecuted: true,
    };
    const message = { role: "assistant", content: [own] } as unknown as PromptMessage;
    expect(sent("anthropic.messages", user("hi"), message)[1]).toEqual(message);
  });
});

describe("files", () => {
  const file = (mediaType: string, data = "AA==", filename?: string): PromptMessage => ({
    role: "user",
    content: [{ type: "file", mediaType, data: { type: "data", data }, ...(filename !== undefined && { filename }) }],
  });
  const textOf = (message: PromptMessage | undefined) => (message?.content[0] as { text?: string } | undefined)?.text;

  test("that the provider takes are sent", () => {
    expect(sent("anthropic.messages", file("image/png"))).toEqual([file("image/png")]);
  });

  test("that it does not take become a short marker", () => {
    const [message] = sent("mistral.chat", file("audio/wav", "A".repeat(16_000)));
    expect(textOf(message)).toBe("[audio audio/wav, 12 kB, not shown: this model takes no audio]");
    const [other] = sent("openai.chat", file("application/zip", "AAAA", "a.zip"));
    expect(textOf(other)).toBe(
      '[file "a.zip", application/zip, 3 B, not shown: this model takes no files of this type]',
    );
  });

  test("with text are sent as text if the provider takes no text files", () => {
    const text = Buffer.from("a,b").toString("base64");
    expect(textOf(sent("mistral.chat", file("text/csv", text, "a.csv"))[0])).toBe('[file "a.csv"]\na,b');
  });

  test("by an id of OpenAI become a marker for others", () => {
    const data = { type: "reference", reference: { openai: "file-1" } } as never;
    const message: PromptMessage = { role: "user", content: [{ type: "file", mediaType: "application/pdf", data }] };
    expect(sent("openai.chat", message)).toEqual([message]);
    expect(textOf(sent("google.generative-ai", message)[0])).toContain("not shown");
    const own = { type: "reference", reference: { google: "files/1" } } as never;
    const uploaded: PromptMessage = {
      role: "user",
      content: [{ type: "file", mediaType: "application/pdf", data: own }],
    };
    expect(sent("google.generative-ai", uploaded)).toEqual([uploaded]);
  });

  test("of an assistant become a marker if the provider takes none from it", () => {
    const message = { ...file("image/png"), role: "assistant" } as PromptMessage;
    expect(textOf(sent("mistral.chat", user("hi"), message)[1])).toContain("not shown");
  });
});

test("blank text beside other parts is not sent, and a message is never empty", () => {
  const content = [
    { type: "text" as const, text: " " },
    { type: "file" as const, mediaType: "image/png", data: { type: "data" as const, data: "AA==" } },
  ];
  expect(sent("", { role: "user", content })[0]?.content).toHaveLength(1);
  expect(sent("", { role: "user", content: [] })[0]?.content).toHaveLength(1);
  const blank = { type: "text" as const, text: "" };
  expect(sent("", { role: "user", content: [blank, blank] })[0]?.content).toMatchObject([
    { text: expect.stringMatching(/\S/) },
  ]);
});

test("Bedrock and Ollama get a text beside files alone", () => {
  const file = { type: "file" as const, mediaType: "image/png", data: { type: "data" as const, data: "AA==" } };
  for (const provider of ["amazon-bedrock", "ollama.responses"])
    expect(sent(provider, { role: "user", content: [file] })[0]?.content).toMatchObject([{ type: "text" }, file]);
});

test("an assistant message of which nothing can be sent is left out", () => {
  expect(outline(sent("", user("hi"), { role: "assistant", content: [] }, user("more")))).toEqual(["user 1", "user 1"]);
});
