import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Content, ContentPart, Message } from "../messages/message.ts";
import { promptMessage } from "./prompt.ts";

const nameless = () => "asked_for";
const promptOf = (message: Message) => promptMessage(message, nameless);
const partsOf = (content: Content) => promptOf(user(content)).content;

describe("each role", () => {
  test("a system message becomes text, with its parts joined", () => {
    expect(
      promptOf(
        system([
          { type: "text", text: "be " },
          { type: "text", text: "kind" },
        ]),
      ),
    ).toEqual({
      role: "system",
      content: "be kind",
    });
  });

  test("a user message becomes parts", () => {
    expect(promptOf(user("hi"))).toEqual({ role: "user", content: [{ type: "text", text: "hi" }] });
  });

  test("an assistant message becomes its text and its calls with parsed input", () => {
    const message = assistant("let me look", { toolCalls: [toolCall("c1", "search", { q: 1 })] });
    expect(promptOf(message).content).toEqual([
      { type: "text", text: "let me look" },
      { type: "tool-call", toolCallId: "c1", toolName: "search", input: { q: 1 } },
    ]);
  });

  test.for([[null], [undefined], [""], [" \n"]])(
    "an assistant message with calls and content %j has no text part",
    ([content]) => {
      const message = { ...assistant(null, { toolCalls: [toolCall("c1", "search")] }), content } as Message;
      expect(promptOf(message).content).toMatchObject([{ type: "tool-call" }]);
    },
  );

  test("a result names its tool", () => {
    expect(promptOf(toolResult("c1", "found", { name: "search" })).content).toEqual([
      { type: "tool-result", toolCallId: "c1", toolName: "search", output: { type: "text", value: "found" } },
    ]);
  });

  test("a result without a name gets the tool name of its call", () => {
    expect(promptOf(toolResult("c1", "found")).content).toMatchObject([{ toolName: "asked_for" }]);
  });

  test("a failed result is sent as an error", () => {
    const [part] = promptOf(toolResult("c1", "no", { isError: true })).content as unknown[];
    expect(part).toMatchObject({ output: { type: "error-text", value: "no" } });
  });

  test("a result with parts keeps its parts", () => {
    const parts = [
      { type: "text", text: "see" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
    ];
    const [part] = promptOf(toolResult("c1", parts)).content as unknown[];
    expect(part).toMatchObject({ output: { type: "content", value: [{ type: "text" }, { mediaType: "image/png" }] } });
  });

  test("metadata is never sent", () => {
    const metadata = { id: "m1", secret: "s" };
    const messages = [system("s", { metadata }), user("u", { metadata }), assistant("a", { metadata })];
    expect(JSON.stringify(messages.map(promptOf))).not.toMatch(/m1|secret/);
  });
});

describe("content parts", () => {
  const image = (url: string): Content => [{ type: "image_url", image_url: { url } }];

  test("an image in a data: URL is sent as bytes with its type", () => {
    expect(partsOf(image("data:image/png;base64,iVBORw0KGgo="))).toEqual([
      { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBORw0KGgo=" } },
    ]);
  });

  test("an image at a URL is sent as the URL", () => {
    expect(partsOf(image("https://example.com/a.png"))).toEqual([
      { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.com/a.png") } },
    ]);
  });

  test.for(["a.png", "", "/tmp/a.png", "data:image/png"])("an image at %j becomes a marker that names it", (url) => {
    expect(partsOf(image(url))).toEqual([
      { type: "text", text: `[file at ${JSON.stringify(url)}, not shown: this is no address]` },
    ]);
  });

  test.for([
    ["wav", "audio/wav"],
    ["mp3", "audio/mpeg"],
    ["flac", "audio/flac"],
  ] as const)("%s audio is sent as bytes with its type", ([format, mediaType]) => {
    expect(partsOf([{ type: "input_audio", input_audio: { data: "AA==", format } }])).toEqual([
      { type: "file", mediaType, data: { type: "data", data: "AA==" } },
    ]);
  });

  test("a file is sent with its data and its name", () => {
    const file = { filename: "a.txt", file_data: "data:text/plain;base64,aGk=" };
    expect(partsOf([{ type: "file", file }])).toEqual([
      { type: "file", mediaType: "text/plain", data: { type: "data", data: "aGk=" }, filename: "a.txt" },
    ]);
  });

  test("a file can be sent by its id", () => {
    expect(partsOf([{ type: "file", file: { file_id: "file-1" } }])).toEqual([
      { type: "file", mediaType: "application/pdf", data: { type: "reference", reference: { openai: "file-1" } } },
    ]);
  });

  test("a refusal is sent as its text", () => {
    expect(partsOf([{ type: "refusal", refusal: "I can't." }])).toEqual([{ type: "text", text: "I can't." }]);
  });

  test("a part that no provider can read is left out", () => {
    const parts = [{ type: "data-weather", data: { city: "Rome" } }, { type: "step-start" }, { type: "file" }];
    expect(partsOf([...parts, { type: "text", text: "hi" }] as unknown as ContentPart[])).toEqual([
      { type: "text", text: "hi" },
    ]);
  });
});

describe("the model's own parts are sent back", () => {
  const reasoning = { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "S" } } };
  const call = {
    type: "tool-call",
    toolCallId: "raw",
    toolName: "search",
    input: "{}",
    providerMetadata: { x: { y: 1 } },
  };
  const providerParts = [reasoning, { type: "text", text: "let me " }, { type: "text", text: "look" }, call];
  const replied = assistant("let me look", { toolCalls: [toolCall("c1", "search")], metadata: { providerParts } });

  test("with reasoning in its place and its signature", () => {
    expect(promptOf(replied).content).toEqual([
      { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "S" } } },
      { type: "text", text: "let me " },
      { type: "text", text: "look" },
      { type: "tool-call", toolCallId: "c1", toolName: "search", input: {}, providerOptions: { x: { y: 1 } } },
    ]);
  });

  test("with the call ids of the message, which are unique", () => {
    expect(JSON.stringify(promptOf(replied))).not.toContain("raw");
  });

  test("unless the text was edited", () => {
    const edited = { ...replied, content: "something else" };
    expect(promptOf(edited).content).toEqual([
      { type: "text", text: "something else" },
      { type: "tool-call", toolCallId: "c1", toolName: "search", input: {} },
    ]);
  });

  test("unless the message lost its calls", () => {
    const { tool_calls: _, ...without } = replied;
    expect(promptOf(without).content).toEqual([{ type: "text", text: "let me look" }]);
  });

  test("with calls and results of the provider's own tools in prompt form", () => {
    const own = [
      { type: "tool-call", toolCallId: "s1", toolName: "web", input: '{"q":1}', providerExecuted: true },
      { type: "tool-result", toolCallId: "s1", toolName: "web", result: { hits: 2 } },
      { type: "tool-result", toolCallId: "s2", toolName: "web", result: "no", isError: true },
      { type: "text", text: "found" },
    ];
    expect(promptOf(assistant("found", { metadata: { providerParts: own } })).content).toEqual([
      { type: "tool-call", toolCallId: "s1", toolName: "web", input: { q: 1 }, providerExecuted: true },
      { type: "tool-result", toolCallId: "s1", toolName: "web", output: { type: "json", value: { hits: 2 } } },
      { type: "tool-result", toolCallId: "s2", toolName: "web", output: { type: "error-json", value: "no" } },
      { type: "text", text: "found" },
    ]);
  });

  test("without parts of an unknown type", () => {
    const own = [
      { type: "source", url: "https://example.com" },
      { type: "text", text: "found" },
    ];
    expect(promptOf(assistant("found", { metadata: { providerParts: own } })).content).toEqual([
      { type: "text", text: "found" },
    ]);
  });

  test.for(["text", 42, [null], ["x"], {}])("unless they are not parts: %j", (own) => {
    const message = assistant("found", { metadata: { providerParts: own as never } });
    expect(promptOf(message).content).toEqual([{ type: "text", text: "found" }]);
  });
});
