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

test("the console writes one readable line a record, from its level up", async () => {
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

test("the console writes from info up unless told otherwise, in colours only where they show", () => {
  const stream = page();
  writeEveryLevel(new ConsoleTracer({ stream }));
  expect(stream.text.split("\n")).toHaveLength(4);
  expect(stream.text).not.toContain("\u001b");
  const terminal = page();
  new ConsoleTracer({ stream: { ...terminal, write: terminal.write, isTTY: true } }).error("red");
  expect(terminal.text).toContain("\u001b[31m");
});

test("untrusted text on the console is inert and stays on its line", () => {
  const stream = page();
  const tracer = new ConsoleTracer({ stream });
  tracer.info("\u001b[2Jcleared\u009b31m \u202etxet \r\n2026 ERROR forged");
  tracer.error("x", new Error("\u001b]0;title\u0007"));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is tested
  expect(stream.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(stream.text.split("\n")).toHaveLength(3);
});

test("a console that is gone does not end the work", () => {
  const gone = {
    write() {
      throw new Error("EPIPE");
    },
  };
  new ConsoleTracer({ stream: gone }).error("nobody hears");
});

test("a composite writes to all of its tracers, one record for all, whoever fails", () => {
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

test("a composite reaches a tracer that somebody wrote with five methods", () => {
  const heard: string[] = [];
  const own: Tracer = {
    trace: (message) => heard.push(`trace ${message}`),
    debug: (message) => heard.push(`debug ${message}`),
    info: (message) => heard.push(`info ${message}`),
    warning: (message) => heard.push(`warning ${message}`),
    error: (message, error) => heard.push(`error ${message} ${(error as Error | undefined)?.message}`),
  };
  writeEveryLevel(new CompositeTracer([own]));
  expect(heard).toEqual(["trace one", "debug two", "info three", "warning four", "error five why"]);
});

test("a buffer hands its records on in order, with the ids and times they were written with", async () => {
  const target = new BufferedTracer();
  const buffer = new BufferedTracer(target);
  await withTrace("t", () => withSpan("s", () => writeEveryLevel(buffer)));
  const held = [...buffer.records];
  expect(target.records).toEqual([]);
  buffer.flush();
  expect(target.records).toEqual(held);
  expect(buffer.records).toEqual([]);
});

test("a full buffer flushes itself; without a target the oldest go and are counted", () => {
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

test.for([-1, 0, 1.5, Number.NaN, "5"])("a buffer refuses the limit %j", (limit) => {
  expect(() => new BufferedTracer(undefined, { limit: limit as number })).toThrow(
    expect.objectContaining({ code: "invalid-argument" }),
  );
});

test("several tracers that are no list are refused, saying how they are given", () => {
  const Composite = CompositeTracer as unknown as new (...tracers: unknown[]) => CompositeTracer;
  expect(() => new Composite(new NoopTracer(), new NoopTracer())).toThrow("new CompositeTracer([first, second])");
});

test("a noop tracer writes nothing", () => {
  writeEveryLevel(new NoopTracer());
  writeEveryLevel(new CompositeTracer([new NoopTracer()]));
});
