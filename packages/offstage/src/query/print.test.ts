import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { MessageQuery } from "./message-query.ts";
import { fitted, type PrintStream } from "./print.ts";

const evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2066 \r\x00";
const esc = String.fromCharCode(0x1b);

const messages: Message[] = [
  system("be brief"),
  user("Weather in Paris?", { metadata: { createdAt: "2026-01-01T00:00:00.000Z" } }),
  assistant(null, { toolCalls: [toolCall("1", "weather", { city: "Paris" }), toolCall("2", "time")] }),
  toolResult("1", "Sunny", { isError: true }),
  assistant("It is sunny.", { metadata: { createdAt: "2026-01-01T00:00:02.000Z" } }),
  toolResult("9", "lost", { name: "ghost" }),
  { role: "critic", content: "hm" } as unknown as Message,
  user("Thanks"),
];
const views = ["timeline", "stats", "tools"] as const;
const presets = ["compact", "detailed", "verbose"] as const;

function paper(more: Partial<PrintStream> = {}): PrintStream & { text: string } {
  const stream = {
    text: "",
    write(text: string) {
      stream.text += text;
    },
    ...more,
  };
  return stream;
}

describe("print", () => {
  test("a terminal without a width has 80 columns", () => {
    const query = new MessageQuery(messages);
    expect(query.print("tools", { stream: paper({ columns: 0 }) })).toBe(query.print("tools", { stream: paper() }));
  });

  test.for(views)("writes the %s and returns the text", (view) => {
    const stream = paper();
    const text = new MessageQuery(messages).print(view, { stream });
    expect(stream.text).toBe(`${text}\n`);
  });

  test("shows turns with tools, failures, orphans and times", () => {
    const text = new MessageQuery(messages).print("timeline", { stream: paper(), width: 60 });
    for (const part of [
      "Turn 0 completed 2000 ms",
      "be brief",
      "Weather in Paris?",
      "weather",
      '{"city":"Paris"} → Sunny',
      "It is sunny.",
    ]) {
      expect(text).toContain(part);
    }
    for (const part of ["(no result)", "(no call) → lost", "hm", "Turn 1 open"]) expect(text).toContain(part);
  });

  test("is shorter or longer by preset", () => {
    for (const view of views) {
      const [compact = 0, detailed = 0, verbose = 0] = presets.map(
        (preset) => new MessageQuery(messages).print(view, { preset, stream: paper() }).length,
      );
      expect(compact).toBeLessThan(detailed);
      expect(detailed).toBeLessThanOrEqual(verbose);
    }
    expect(new MessageQuery(messages).print("stats", { preset: "compact", stream: paper() })).toMatch(
      /^8 messages, about \d+ tokens$/,
    );
  });

  test("prints a line for an empty list", () => {
    for (const preset of presets) {
      expect(new MessageQuery([]).print("timeline", { preset, stream: paper() })).toBe("No messages.");
      expect(new MessageQuery([]).print("tools", { preset, stream: paper() })).toBe("No tool calls.");
    }
  });

  test("colours only a terminal, by default", () => {
    const query = new MessageQuery(messages);
    expect(query.print("timeline", { stream: paper() })).not.toContain(esc);
    expect(query.print("timeline", { stream: paper({ isTTY: true }), color: false })).not.toContain(esc);
    expect(query.print("timeline", { stream: paper(), color: true })).toContain(esc);
    expect(query.print("tools", { stream: paper(), color: true })).toContain(esc);
    expect(query.print("stats", { stream: paper(), color: true })).toContain(esc);
  });

  test("heeds the colour settings of a terminal", () => {
    const depth = (bits: number) =>
      paper({ isTTY: true, getColorDepth: () => bits, _writableState: {} } as Partial<PrintStream>);
    const query = new MessageQuery(messages);
    expect([true, false]).toContain(query.print("timeline", { stream: depth(8) }).includes(esc));
    expect(query.print("timeline", { stream: depth(1) })).not.toContain(esc);
  });

  test("fits compact and detailed lines into the width", () => {
    const long = new MessageQuery([
      user("x".repeat(500)),
      assistant("日本".repeat(300), { toolCalls: [toolCall("1", "t".repeat(300), "a".repeat(300))] }),
    ]);
    for (const preset of ["compact", "detailed"] as const) {
      const text = long.print("timeline", { width: 50, preset, stream: paper() });
      for (const line of text.split("\n")) expect([...line].length).toBeLessThanOrEqual(50);
    }
    expect(long.print("timeline", { stream: paper({ columns: 30 }), preset: "compact" }).length).toBeLessThanOrEqual(
      30,
    );
  });

  test.for(views)("makes untrusted text inert in the %s, in every preset and in String()", (view) => {
    const hostile = new MessageQuery([
      system(evil),
      user(evil),
      assistant(evil, { toolCalls: [toolCall(evil, evil, evil)] }),
      toolResult(evil, evil, { name: evil }),
      toolResult("orphan", evil, { name: evil }),
      { role: evil, content: evil } as unknown as Message,
    ]);
    const texts = presets.map((preset) => hostile.print(view, { preset, stream: paper() }));
    const spoken = [
      hostile.stats(),
      hostile.timeline(),
      hostile.toolSummary(),
      hostile.timeline()[0],
      hostile.toolSummary()[0],
    ];
    for (const text of [...texts, ...spoken.map(String)]) {
      expect(text).not.toMatch(/(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
    }
  });

  test("refuses unknown views and options, with the valid ones", () => {
    const query = new MessageQuery(messages);
    const print = (options: unknown) => () => query.print("stats", options as object);
    expect(() => query.print("pie" as "stats", { stream: paper() })).toThrow(
      'Unknown view "pie". Valid views: timeline, stats, tools.',
    );
    expect(print({ preset: "huge" })).toThrow('"preset" must be "compact", "detailed" or "verbose"; found "huge".');
    expect(print({ colour: true })).toThrow(
      'Unknown print option "colour". Valid options: color, width, preset, stream.',
    );
    expect(print({ stream: 5 })).toThrow('"stream" must be a stream, with write(text); found 5.');
    expect(print(null)).toThrow("The print options must be an object; found null.");
  });
});

test.for([
  ["short", 10, "short"],
  ["exactly ten", 11, "exactly ten"],
  ["exactly ten", 10, "exactly t…"],
  ["日本語日本語", 6, "日本…"],
  ["😀😀😀😀", 5, "😀😀…"],
  ["two\nlines", 20, "two lines"],
  ["x", 0, "…"],
] as const)("%j fits %i columns as %j", ([text, width, line]) => {
  expect(fitted(text, width)).toBe(line);
});
