import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { buildTool, givenBack, runBuilt } from "../../test/support/build-tool-run.ts";
import { Cancellation } from "../base/cancellation.ts";
import type { ToolGuard } from "./run-tool.ts";
import { tool } from "./tool.ts";
import { ToolAnswer } from "./tool-answer.ts";

const never = (): Promise<never> => new Promise(() => undefined);

describe("a call that goes well", () => {
  test("gives the value, its text for the model, its input and how long it took", async () => {
    const search = buildTool({ execute: ({ q }) => ({ hits: q }) });
    expect(await runBuilt({ tools: [search], call: { inputText: '{"q":3}' } })).toEqual({
      toolCallId: "c1",
      toolName: "search",
      input: { q: 3 },
      output: { hits: 3 },
      content: '{"hits":3}',
      isError: false,
      durationMs: expect.any(Number),
    });
  });

  test("a text is shown as it is", async () => {
    expect(await givenBack("plain")).toMatchObject({ output: "plain", content: "plain" });
  });

  test("the tool gets what its schema makes of the input", async () => {
    const typed = tool({
      name: "search",
      input: z.object({ n: z.coerce.number().default(7) }),
      execute: ({ n }) => n + 1,
    });
    expect(await runBuilt({ tools: [typed] })).toMatchObject({ input: { n: 7 }, output: 8 });
  });

  test("an empty input text is an empty object", async () => {
    expect(await runBuilt({ call: { inputText: "" } })).toMatchObject({ input: {}, isError: false });
  });

  test("a ready-made answer is shown word for word, with its mark and its run", async () => {
    const answer = new ToolAnswer("[Subagent: a] Failed: no", { isError: true, childRunId: "r2" });
    expect(await givenBack(answer)).toMatchObject({ content: answer.text, isError: true, childRunId: "r2" });
  });
});

describe("a call that goes wrong is one clear result", () => {
  const problem = async (options: Parameters<typeof runBuilt>[0]) => {
    const { content, isError } = await runBuilt(options);
    expect(isError).toBe(true);
    return content;
  };

  test("an unknown tool: the known ones are named", async () => {
    expect(await problem({ call: { toolName: "fetch" } })).toBe('There is no tool "fetch". Available tools: "search".');
    expect(await problem({ call: { toolName: "toString" }, tools: [] })).toContain("Available tools: none.");
  });

  test.for([
    ["cut JSON", '{"q":', "not valid JSON"],
    ["spliced JSON", '{"q":1}{"q":2}', "not valid JSON"],
    ["a list", "[1]", "not a JSON object"],
    ["null", "null", "not a JSON object"],
    ["text", '"q"', "not a JSON object"],
  ] as const)("%s: the arguments are shown", async ([, text, says]) => {
    const told = await problem({ call: { inputText: text } });
    expect(told).toContain(says);
    expect(told).toContain(text);
  });

  test("input that does not fit: every place is named, and the tool is not run", async () => {
    let isRun = false;
    const typed = tool({
      name: "search",
      input: z.object({ q: z.string(), n: z.number() }),
      execute: () => {
        isRun = true;
      },
    });
    const told = await problem({ tools: [typed], call: { inputText: '{"q":1}' } });
    expect(told).toMatch(/- q: .*\n- n: /);
    expect(isRun).toBe(false);
  });

  test.for([
    ["throws", () => fail("odd")],
    ["rejects", () => Promise.reject(new Error("odd"))],
  ] as const)("a check that %s", async ([, validate]) => {
    const input = { "~standard": { version: 1, vendor: "own", validate, jsonSchema: { input: () => ({}) } } } as const;
    const checked = tool({ name: "search", input, execute: () => 1 });
    expect(await problem({ tools: [checked] })).toContain("odd");
  });

  test.for([
    ["throws", () => fail("broken")],
    ["rejects", () => Promise.reject(new Error("broken"))],
    ["throws a text", () => Promise.reject("broken")],
  ] as const)("a tool that %s", async ([, execute]) => {
    expect(await problem({ tools: [buildTool({ execute })] })).toBe('The tool "search" failed: broken');
  });

  test("a tool that throws nothing", async () => {
    const told = await problem({ tools: [buildTool({ execute: () => Promise.reject() })] });
    expect(told).toBe('The tool "search" failed: undefined');
  });

  test("an async iterable that throws", async () => {
    const source = async function* () {
      yield 1;
      fail("cut");
    };
    expect(await givenBack(source())).toMatchObject({ isError: true, content: 'The tool "search" failed: cut' });
  });

  test("an error of a megabyte is clipped for the model", async () => {
    const execute = () => fail("e".repeat(1024 * 1024));
    const result = await runBuilt({ tools: [buildTool({ execute, maxResultBytes: 1000 })] });
    expect(Buffer.byteLength(result.content as string)).toBeLessThanOrEqual(1000);
  });

  test("problems without end are clipped", async () => {
    const told = await problem({ call: { toolName: "x".repeat(1024 * 1024) } });
    expect((told as string).length).toBeLessThan(20_000);
  });
});

function fail(message: string): never {
  throw new Error(message);
}

describe("a result beyond the budget", () => {
  test("is clipped for the model and kept whole", async () => {
    const result = await givenBack("x".repeat(70_000));
    expect(result.output).toHaveLength(70_000);
    expect(Buffer.byteLength(result.content as string)).toBeLessThanOrEqual(65_536);
    expect(result.content).toMatch(/\n\[clipped, \d+ bytes\]$/);
    expect(result.clippedBytes).toBeGreaterThan(4_000);
  });

  test("has the budget of its tool", async () => {
    const result = await givenBack({ text: "🙂".repeat(100) }, { maxResultBytes: 50 });
    expect(Buffer.byteLength(result.content as string)).toBeLessThanOrEqual(50);
  });

  test("is kept up to 8 MiB", async () => {
    const result = await givenBack("x".repeat(100_000_000));
    expect((result.output as string).length).toBeLessThan(9 * 1024 * 1024);
  });

  test("of an endless async iterable is cut", async () => {
    const source = async function* () {
      while (true) yield "x".repeat(100_000);
    };
    const result = await givenBack(source());
    expect((result.output as unknown[]).at(-1)).toBe("[clipped]");
  });
});

test("a result that cannot be read becomes a text that says so", async () => {
  const trapped = new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error("trapped");
      },
    },
  );
  expect(await givenBack(trapped)).toMatchObject({ isError: false, content: "[unreadable: trapped]" });
});

describe("a time limit", () => {
  test("is kept whether the tool notices or not", async () => {
    const result = await runBuilt({ tools: [buildTool({ timeoutMs: 5, execute: never })] });
    expect(result).toMatchObject({
      isError: true,
      content: 'The tool "search" took longer than 5 ms. It was told to stop; its effect is unknown.',
    });
  });

  test("aborts the signal of the tool", async () => {
    let reason: unknown;
    const execute = (_: unknown, { signal }: { signal: AbortSignal }) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      return never();
    };
    await runBuilt({ tools: [buildTool({ timeoutMs: 5, execute })] });
    expect(reason).toMatchObject({ name: "TimeoutError" });
  });

  test("leaves no timer or listener behind", async () => {
    vi.useFakeTimers();
    const cancellation = new Cancellation();
    const tools = [buildTool({ timeoutMs: 60_000, execute: async () => "fast" })];
    expect(await runBuilt({ tools, cancellation })).toMatchObject({ output: "fast" });
    expect([getEventListeners(cancellation.signal, "abort").length, vi.getTimerCount()]).toEqual([0, 0]);
    vi.useRealTimers();
  });

  test.for([Number.POSITIVE_INFINITY, 2 ** 40])("of %d ms is none", async (timeoutMs) => {
    const tools = [buildTool({ timeoutMs, execute: () => sleep(10, "slow") })];
    expect(await runBuilt({ tools })).toMatchObject({ output: "slow" });
  });

  test("a failure within it is the tool's own", async () => {
    const tools = [buildTool({ timeoutMs: 1000, execute: () => fail("broken") })];
    expect(await runBuilt({ tools })).toMatchObject({ content: 'The tool "search" failed: broken' });
  });
});

describe("an abort of the run rejects the call", () => {
  const reason = new Error("user left");

  test.for([undefined, 1000])("at once, whether the tool notices or not (time limit %d)", async (timeoutMs) => {
    const cancellation = new Cancellation();
    const limit = timeoutMs === undefined ? undefined : { timeoutMs };
    const running = runBuilt({ cancellation, tools: [buildTool({ ...limit, execute: never })] });
    setTimeout(() => cancellation.abort(reason), 2);
    await expect(running).rejects.toBe(reason);
  });

  test("also if the tool throws an error of its own on abort", async () => {
    const cancellation = new Cancellation();
    const execute = (_: unknown, { signal }: { signal: AbortSignal }) => sleep(1000, undefined, { signal });
    const running = runBuilt({ cancellation, tools: [buildTool({ execute })] });
    setTimeout(() => cancellation.abort(reason), 2);
    await expect(running).rejects.toBe(reason);
  });

  test("and after it no tool is run", async () => {
    const cancellation = new Cancellation();
    cancellation.abort(reason);
    const execute = () => fail("it ran");
    await expect(runBuilt({ cancellation, tools: [buildTool({ execute })] })).rejects.toBe(reason);
  });

  test("and closes an endless source", async () => {
    const cancellation = new Cancellation();
    let isClosed = false;
    const source = async function* () {
      try {
        while (true) {
          await sleep(1);
          yield 1;
        }
      } finally {
        isClosed = true;
      }
    };
    const running = runBuilt({ cancellation, tools: [buildTool({ execute: source })] });
    setTimeout(() => cancellation.abort(reason), 5);
    await expect(running).rejects.toBe(reason);
    await sleep(10);
    expect(isClosed).toBe(true);
  });
});

describe("a guard", () => {
  const guard = (changes: Partial<ToolGuard>): ToolGuard => ({
    input: async () => undefined,
    output: async () => undefined,
    ...changes,
  });

  test("may block a call before it runs", async () => {
    const tools = [buildTool({ execute: () => fail("it ran") })];
    const result = await runBuilt({ tools, guard: guard({ input: async () => "not allowed" }) });
    expect(result).toMatchObject({ isError: true, content: "not allowed" });
  });

  test("may withhold a result", async () => {
    const result = await runBuilt({
      guard: guard({ output: async (_, { output }) => `secret ${output}`.slice(0, 6) }),
    });
    expect(result).toMatchObject({ isError: true, output: "secret", content: "secret" });
  });

  test("that fails rejects the call", async () => {
    const failing = guard({ input: () => Promise.reject(new Error("guard broke")) });
    await expect(runBuilt({ guard: failing })).rejects.toThrow("guard broke");
  });
});
