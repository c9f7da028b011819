import { afterEach, expect, test } from "vitest";
import { configureTracing } from "../trace-state.ts";
import type { Tracer } from "../tracer.ts";
import { withSpan, withTrace } from "../with-span.ts";
import { BufferedTracer } from "./buffered-tracer.ts";
import { CompositeTracer } from "./composite-tracer.ts";
import { ConsoleTracer } from "./console-tracer.ts";
import { NoopTracer } from "./noop-tracer.ts";

afterEach(() => configureTracing());

function page(): { write(text: string): void; readonly text: string } {
  let text = "";
  return {
    write(more) {
      text += more;
    },
    get text() {
      return text;
    },
  };
}

function writeEveryLevel(tracer: Tracer): void {
  tracer.trace("one");
  tracer.debug("two");
  tracer.info("three");
  tracer.warning("four");
  tracer.error("five", new TypeError("why"));
}

test("every record carries the trace and span it was written in", async () => {
  const tracer = new BufferedTracer();
  tracer.info("outside");
  await withTrace("t", async (trace) => {
    tracer.info("in the trace");
    await withSpan("s", (span) => {
      tracer.info("in the span");
      expect(tracer.records.map(({ traceId, spanId }) => [traceId, spanId])).toEqual([
        [undefined, undefined],
        [trace.traceId, undefined],
        [trace.traceId, span.spanId],
      ]);
    });
  });
});

test("records survive JSON", () => {
  const tracer = new BufferedTracer();
  writeEveryLevel(tracer);
  expect(JSON.parse(JSON.stringify(tracer.records))).toEqual(tracer.records);
  expect(tracer.records.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "trace one",
    "debug two",
    "info three",
    "warning four",
    "error five",
  ]);
  expect(tracer.records.at(-1)?.error).toEqual({ type: "TypeError", message: "why" });
});

test("ConsoleTracer writes one line per record, from its level up", async () => {
  const stream = page();
  await withTrace("t", () =>
    withSpan("s", (span) => {
      writeEveryLevel(new ConsoleTracer({ level: "warning", stream }));
      const [four, five, end] = stream.text.split("\n");
      expect(four).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z WARNING four trace=[0-9a-f]{32} span=[0-9a-f]{16}$/);
      expect(five).toContain(`ERROR   five TypeError: why trace=${span.traceId} span=${span.spanId}`);
      expect(end).toBe("");
    }),
  );
});

test("ConsoleTracer writes from info up by default, with colors only on a terminal", () => {
  const stream = page();
  writeEveryLevel(new ConsoleTracer({ stream }));
  expect(stream.text.split("\n")).toHaveLength(4);
  expect(stream.text).not.toContain("\u001b");
  const terminal = page();
  new ConsoleTracer({ stream: { ...terminal, write: terminal.write, isTTY: true } }).error("red");
  expect(terminal.text).toContain("\u001b[31m");
});

test("untrusted text on the console is inert and stays on one line", () => {
  const stream = page();
  const tracer = new ConsoleTracer({ stream });
  tracer.info("\u001b[2Jcleared\u009b31m \u202etxet \r\n2026 ERROR forged");
  tracer.error("x", new Error("\u001b]0;title\u0007"));
  tracer.write({ level: "info", message: "x", time: 0, traceId: "\u001b[2J\n", spanId: "\u202e" });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks that none is left
  expect(stream.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(stream.text.split("\n")).toHaveLength(4);
});

test("a closed stream does not break the work", () => {
  const gone = {
    write() {
      throw new Error("EPIPE");
    },
  };
  new ConsoleTracer({ stream: gone }).error("lost");
});

test("CompositeTracer writes the same record to all of its tracers, even if one fails", () => {
  const errors: unknown[] = [];
  const [first, last] = [new BufferedTracer(), new BufferedTracer()];
  const failing = new Proxy(new NoopTracer(), {
    get: () => () => {
      throw new Error("broken");
    },
  });
  writeEveryLevel(new CompositeTracer([first, failing, last], { onError: (error) => errors.push(error) }));
  expect(first.records).toHaveLength(5);
  expect(last.records).toEqual(first.records);
  expect(errors).toHaveLength(5);
});

test("CompositeTracer accepts any tracer with the five methods", () => {
  const lines: string[] = [];
  const own: Tracer = {
    trace: (message) => lines.push(`trace ${message}`),
    debug: (message) => lines.push(`debug ${message}`),
    info: (message) => lines.push(`info ${message}`),
    warning: (message) => lines.push(`warning ${message}`),
    error: (message, error) => lines.push(`error ${message} ${(error as Error | undefined)?.message}`),
  };
  writeEveryLevel(new CompositeTracer([own]));
  expect(lines).toEqual(["trace one", "debug two", "info three", "warning four", "error five why"]);
});

test("BufferedTracer flushes records in order, with their original ids and times", async () => {
  const target = new BufferedTracer();
  const buffer = new BufferedTracer(target);
  await withTrace("t", () => withSpan("s", () => writeEveryLevel(buffer)));
  const held = [...buffer.records];
  expect(target.records).toEqual([]);
  buffer.flush();
  expect(target.records).toEqual(held);
  expect(buffer.records).toEqual([]);
});

test("a full buffer flushes itself; without a target it drops and counts the oldest records", () => {
  const target = new BufferedTracer();
  const buffer = new BufferedTracer(target, { limit: 2 });
  writeEveryLevel(buffer);
  expect([target.records.length, buffer.records.length, buffer.dropped]).toEqual([4, 1, 0]);
  const ring = new BufferedTracer(undefined, { limit: 2 });
  writeEveryLevel(ring);
  expect(ring.records.map((record) => record.message)).toEqual(["four", "five"]);
  expect(ring.dropped).toBe(3);
  ring.clear();
  expect(ring.records).toEqual([]);
});

test.for([-1, 0, 1.5, Number.NaN, "5"])("BufferedTracer refuses the limit %j", (limit) => {
  expect(() => new BufferedTracer(undefined, { limit: limit as number })).toThrow(
    expect.objectContaining({ code: "invalid-argument" }),
  );
});

test("CompositeTracer refuses anything but a list of tracers", () => {
  const Composite = CompositeTracer as unknown as new (...tracers: unknown[]) => CompositeTracer;
  expect(() => new Composite(new NoopTracer(), new NoopTracer())).toThrow("new CompositeTracer([first, second])");
});

test("tracers refuse unknown and unfit options", () => {
  expect(() => new ConsoleTracer({ level: "verbose" as never })).toThrow('"level" must be "trace", "debug",');
  expect(() => new ConsoleTracer({ colour: true } as never)).toThrow('Unknown ConsoleTracer option "colour".');
  expect(() => new BufferedTracer({ limit: 5 } as never)).toThrow('"target" must be a tracer with the methods trace,');
  expect(() => new BufferedTracer(undefined, { size: 5 } as never)).toThrow('Unknown BufferedTracer option "size".');
  expect(() => new CompositeTracer([], { onerror() {} } as never)).toThrow('Unknown CompositeTracer option "onerror".');
  expect(() => new CompositeTracer([undefined as never])).toThrow("found undefined.");
});

test("NoopTracer writes nothing", () => {
  writeEveryLevel(new NoopTracer());
  writeEveryLevel(new CompositeTracer([new NoopTracer()]));
});
