// The sources of a stream, its content, and how it ends.
import { describe, expect, test } from "vitest";
import type { ModelStream, ModelStreamPart } from "./model.ts";
import { type DeltaListener, readStream } from "./stream-reply.ts";

const finish: ModelStreamPart = {
  type: "finish",
  finishReason: { unified: "stop" },
  usage: { inputTokens: { total: 3 }, outputTokens: { total: 2, reasoning: 1 } },
};
const { signal } = new AbortController();
const text = (delta: string, id = "0"): ModelStreamPart => ({ type: "text-delta", id, delta });

async function* iterate(parts: readonly unknown[]): AsyncGenerator<unknown> {
  yield* parts;
}

function listening() {
  const heard: unknown[] = [];
  const listener: DeltaListener = {
    text: (delta) => heard.push(["text", delta]),
    reasoning: (delta) => heard.push(["reasoning", delta]),
    toolInput: (...about) => heard.push(["input", ...about]),
  };
  return { heard, listener };
}

const read = (parts: readonly unknown[]) => readStream(iterate(parts), listening().listener, signal);

describe("a stream may be", () => {
  const parts = [text("hel"), text("lo"), finish];
  const sources: [string, ModelStream][] = [
    ["a web stream", ReadableStream.from(parts)],
    ["an async iterable", iterate(parts)],
    [
      "anything with a reader",
      {
        getReader: () => {
          const rest = iterate(parts);
          return {
            read: async () => (await rest.next()) as { done: boolean; value?: unknown },
            cancel: async () => undefined,
          };
        },
      },
    ],
  ];

  test.for(sources)("%s", async ([, stream]) => {
    const { heard, listener } = listening();
    expect(await readStream(stream, listener, signal)).toMatchObject({
      text: "hello",
      finishReason: "stop",
      parts: undefined,
    });
    expect(heard).toEqual([
      ["text", "hel"],
      ["text", "lo"],
    ]);
  });
});

describe("the listener gets", () => {
  test("reasoning and tool input as they arrive, with the name of the tool", async () => {
    const { heard, listener } = listening();
    const parts = [
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "tool-input-start", id: "c1", toolName: "search" },
      { type: "tool-input-delta", id: "c1", delta: '{"q"' },
      { type: "tool-input-delta", id: "c1", delta: ":1}" },
      { type: "tool-input-end", id: "c1" },
      { type: "tool-call", toolCallId: "c1", toolName: "search", input: '{"q":1}' },
      finish,
    ];
    const reply = await readStream(iterate(parts), listener, signal);
    expect(heard).toEqual([
      ["reasoning", "hm"],
      ["input", "c1", "search", '{"q"'],
      ["input", "c1", "search", ":1}"],
    ]);
    expect(reply.calls).toEqual([{ toolCallId: "c1", toolName: "search", inputText: '{"q":1}' }]);
  });

  test("no delta that is not text; a finish part without a reason still ends the reply", async () => {
    const { listener, heard } = listening();
    const parts = [
      { type: "text-delta", id: "0", delta: 5 },
      { type: "text-delta", id: "0", delta: { toString: () => "x" } },
      { type: "reasoning-delta", id: "1", delta: true },
      { type: "text-delta", id: "0", delta: "a" },
      { type: "finish", finishReason: null, usage: null },
    ];
    const reply = await readStream(iterate(parts), listener, signal);
    expect(reply).toMatchObject({ text: "a", finishReason: "other" });
    expect(heard).toHaveLength(1);
  });

  test("no empty delta", async () => {
    const { heard, listener } = listening();
    const empty = [text(""), { type: "reasoning-delta", id: "1", delta: "" }];
    await readStream(iterate([...empty, finish]), listener, signal);
    expect(heard).toEqual([]);
  });
});

describe("the reply has", () => {
  test("the usage, and the model that answered", async () => {
    expect(await read([{ type: "response-metadata", modelId: "m-2" }, text("x"), finish])).toMatchObject({
      modelId: "m-2",
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5, reasoningTokens: 1 },
    });
  });

  test("parts of an unknown type, in their place", async () => {
    const source = { type: "source", url: "https://example.com" };
    const reply = await read([text("a"), source, text("b", "1"), finish]);
    expect(reply.parts).toEqual([{ type: "text", text: "a" }, source, { type: "text", text: "b" }]);
  });

  test("no parts that only describe the stream", async () => {
    const about = [{ type: "stream-start" }, { type: "raw", rawValue: 1 }, { type: "ping" }];
    expect((await read([...about, text("x"), finish])).parts).toBeUndefined();
  });

  test("no empty block", async () => {
    const empty = [
      { type: "text-start", id: "9" },
      { type: "text-end", id: "9" },
    ];
    expect((await read([...empty, { type: "reasoning-delta", id: "r", delta: "hm" }, finish])).parts).toEqual([
      { type: "reasoning", text: "hm" },
    ]);
  });

  test("a signature that comes with an empty delta, in the block it signs", async () => {
    const reasoning = (delta: string, signature?: string): ModelStreamPart => ({
      type: "reasoning-delta",
      id: "0",
      delta,
      ...(signature === undefined ? undefined : { providerMetadata: { anthropic: { signature } } }),
    });
    const reply = await read([reasoning("let me "), reasoning("think"), reasoning("", "S"), finish]);
    expect([reply.reasoning, reply.parts]).toEqual([
      "let me think",
      [{ type: "reasoning", text: "let me think", providerMetadata: { anthropic: { signature: "S" } } }],
    ]);
  });
});

describe("a stream fails", () => {
  test("with the error of an error part", async () => {
    const error = Object.assign(new Error("overloaded"), { statusCode: 529 });
    await expect(read([text("x"), { type: "error", error }])).rejects.toBe(error);
  });

  test.for([
    ["overloaded", "overloaded"],
    [{ message: "too busy", code: 503 }, "too busy"],
    [{ type: "odd" }, '{"type":"odd"}'],
    [undefined, "undefined"],
  ] as const)("with an error that quotes %j of an error part", async ([error, says]) => {
    await expect(read([{ type: "error", error }])).rejects.toThrow(
      expect.objectContaining({ code: "model-failed", message: expect.stringContaining(says), cause: error }),
    );
  });

  test("with a retryable error if it ends without a finish part", async () => {
    await expect(read([text("half")])).rejects.toThrow(
      expect.objectContaining({ code: "model-failed", cause: expect.objectContaining({ isRetryable: true }) }),
    );
  });

  test("with the error of its source", async () => {
    const stream = new ReadableStream({
      start: (controller) => controller.error(new Error("reset")),
    });
    await expect(readStream(stream, listening().listener, signal)).rejects.toThrow("reset");
  });
});

describe("a stream that is not read to its end is cancelled", () => {
  /** A source that notes whether it was closed. */
  const watched = (parts: readonly unknown[]) => {
    const about = { isClosed: false };
    async function* source() {
      try {
        yield* parts;
      } finally {
        about.isClosed = true;
      }
    }
    return { about, source };
  };

  test.for(["web", "iterable"])("after an error part: %s", async (kind) => {
    const { about, source } = watched([{ type: "error", error: "no" }, text("x"), text("y")]);
    const stream = kind === "web" ? ReadableStream.from(source()) : source();
    await expect(readStream(stream, listening().listener, signal)).rejects.toThrow("no");
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(about.isClosed).toBe(true);
  });

  test("if the listener throws", async () => {
    const { about, source } = watched([text("x"), text("y"), text("z"), finish]);
    const throwing: DeltaListener = {
      ...listening().listener,
      text: () => {
        throw new Error("deaf");
      },
    };
    await expect(readStream(ReadableStream.from(source()), throwing, signal)).rejects.toThrow("deaf");
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(about.isClosed).toBe(true);
  });

  test("if the signal aborts between two parts of an iterable", async () => {
    const controller = new AbortController();
    const { about, source } = watched([text("x"), text("y"), finish]);
    const stopping: DeltaListener = { ...listening().listener, text: () => controller.abort("enough") };
    await expect(readStream(source(), stopping, controller.signal)).rejects.toBe("enough");
    expect(about.isClosed).toBe(true);
  });

  test("and a failing cancel() does not hide the error", async () => {
    const stream: ModelStream = {
      getReader: () => ({
        read: async () => ({ done: false, value: { type: "error", error: new Error("first") } }),
        cancel: () => Promise.reject(new Error("second")),
      }),
    };
    await expect(readStream(stream, listening().listener, signal)).rejects.toThrow("first");
  });

  test("and a throwing cancel() hides neither the error nor the abort", async () => {
    const reading = (read: () => Promise<{ done: boolean; value: unknown }>): ModelStream => ({
      getReader: () => ({
        read,
        cancel: () => {
          throw new Error("second");
        },
      }),
    });
    const failing = reading(async () => ({ done: false, value: { type: "error", error: new Error("first") } }));
    await expect(readStream(failing, listening().listener, signal)).rejects.toThrow("first");
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<{ done: boolean; value: unknown }>();
    const silent = readStream(
      reading(() => promise),
      listening().listener,
      controller.signal,
    );
    controller.abort(new Error("stop"));
    resolve({ done: true, value: undefined });
    await expect(silent).rejects.toThrow("stop");
  });
});
