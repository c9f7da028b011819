import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { checkSpans } from "../testing/check-spans.ts";
import { memoryExporter } from "./exporters/memory.ts";
import { startRootSpan, TraceContext } from "./trace-context.ts";
import { currentScope, inSpan, noopSpan, runInScope, startSpan } from "./trace-span.ts";
import { configureTracing } from "./trace-state.ts";
import { withSpan, withTrace } from "./with-span.ts";

afterEach(() => configureTracing());

test("withSpan returns the result of its work, and its span is ok", async () => {
  await withTrace("t", async (trace) => {
    expect(await withSpan("s", { kind: "tool", metadata: { a: 1 } }, async () => 42)).toBe(42);
    const [span] = trace.getSpans();
    expect([span?.name, span?.kind, span?.status, span?.metadata]).toEqual(["s", "tool", "ok", { a: 1 }]);
  });
});

test("the default kind of a span is custom", async () => {
  expect(await withSpan("s", (span) => span.kind)).toBe("custom");
});

test("spans nest by async context, and concurrent spans are siblings", async () => {
  await withTrace("t", async (trace) => {
    await withSpan("a", async () => {
      await Promise.all([withSpan("a1", () => sleep(2)), withSpan("a2", () => withSpan("a21", () => sleep(1)))]);
    });
    await withSpan("b", async () => {});
    const byId = new Map(trace.getSpans().map((span) => [span.spanId, span.name]));
    const parents = trace.getSpans().map((span) => [span.name, byId.get(span.parentSpanId ?? "")]);
    expect(Object.fromEntries(parents)).toEqual({ a: undefined, a1: "a", a2: "a", a21: "a2", b: undefined });
    expect(checkSpans(trace.getSpans())).toEqual([]);
  });
});

test("work that fails gives its span the status error and rejects with the same error", async () => {
  const failure = new RangeError("no");
  await withTrace("t", async (trace) => {
    await expect(withSpan("s", () => Promise.reject(failure))).rejects.toBe(failure);
    expect(trace.getSpans()[0]?.status).toBe("error");
    expect(trace.getSpans()[0]?.metadata).toEqual({ errorType: "RangeError" });
  });
});

test("work that rejects with an AbortError or the reason of its signal gives its span the status cancelled", async () => {
  const reason = new Error("user left");
  const controller = new AbortController();
  await withTrace("t", async (trace) => {
    const aborted = withSpan("s", () => Promise.reject(new DOMException("stop", "AbortError")));
    await expect(aborted).rejects.toThrow("stop");
    const { signal } = controller;
    const waiting = withSpan("s", { signal }, () =>
      sleep(1000, undefined, { signal }).catch(() => signal.throwIfAborted()),
    );
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(withSpan("s", () => Promise.reject(reason))).rejects.toBe(reason);
    expect(trace.getSpans().map((span) => span.status)).toEqual(["cancelled", "cancelled", "error"]);
  });
});

test("outside of any trace, withSpan opens a trace of the same name, which ends with the span", async () => {
  let opened: TraceContext | undefined;
  const span = await withSpan("alone", (span) => {
    opened = TraceContext.current;
    return span;
  });
  expect(opened?.name).toBe("alone");
  expect(opened?.traceId).toBe(span.traceId);
  expect(opened?.getSpans()).toEqual([span]);
  expect(opened?.endTime).toBeGreaterThanOrEqual(span.startTime);
});

test("inSpan runs its work in a child of the given span, whatever span is current, and returns the result", async () => {
  const exporter = memoryExporter();
  const parent = startRootSpan({ name: "run", tracing: { exporters: [exporter] } });
  await withTrace("elsewhere", async () => {
    const given = await inSpan(parent, { name: "model", kind: "model", metadata: { a: 1 } }, async (span) => {
      expect(currentScope()).toBe(span);
      span.setMetadata({ b: 2 });
      return "answer";
    });
    expect(given).toBe("answer");
  });
  const [span] = exporter.spans;
  expect([span?.name, span?.kind, span?.status, span?.metadata]).toEqual(["model", "model", "ok", { a: 1, b: 2 }]);
  expect(span?.parentSpanId).toBe(parent.spanId);
});

test("inSpan ends its span once: with the status the work gave it, else ok, cancelled or error", async () => {
  const exporter = memoryExporter();
  const parent = startRootSpan({ name: "run", tracing: { exporters: [exporter] } });
  const signal = AbortSignal.abort(new Error("user left"));
  const init = { name: "s" };
  await inSpan(parent, init, () => {}, signal);
  await inSpan(parent, init, (span) => span.end("error"), signal);
  await inSpan(parent, init, () => Promise.reject(signal.reason), signal).catch(() => {});
  await expect(
    inSpan(parent, init, () => {
      throw new RangeError("at once");
    }),
  ).rejects.toThrow("at once");
  expect(exporter.spans.map((span) => span.status)).toEqual(["ok", "error", "cancelled", "error"]);
});

test("inSpan on a no-op span calls the work with a no-op span", async () => {
  for (const parent of [noopSpan(), startRootSpan({ name: "run", tracing: false })]) {
    await inSpan(parent, { name: "s" }, (span) => {
      span.setMetadata({ a: 1 });
      span.setContent({ a: 1 });
      span.end("error");
      span.fail(new Error("no"));
      expect(span.toJSON()).toMatchObject({ status: "active", metadata: {}, content: undefined });
      expect([span.recording, span.keepsContent]).toEqual([false, false]);
    });
  }
});

test("a root span joins the current trace, or opens one that ends with it", async () => {
  const alone = startRootSpan({ name: "run", kind: "run", groupId: "session-1", traceName: "agent" });
  expect([alone.traceName, alone.groupId]).toEqual(["agent", "session-1"]);
  alone.end();
  expect((alone.trace as TraceContext).endTime).toBeDefined();
  await withTrace("outer", async (outer) => {
    await withSpan("work", (parent) => {
      const joined = startRootSpan({ name: "run", kind: "run", groupId: "session-1" });
      expect([joined.traceId, joined.parentSpanId, joined.groupId]).toEqual([outer.traceId, parent.spanId, undefined]);
      joined.end();
      expect(outer.endTime).toBeUndefined();
    });
  });
});

test("a root span can have its own exporters, and all spans below it use them", async () => {
  const outer = memoryExporter();
  const own = memoryExporter();
  await withTrace("t", { exporters: [outer] }, async (trace) => {
    const run = startRootSpan({ name: "run", kind: "run", tracing: { exporters: [own] } });
    startSpan(run, { name: "step", kind: "step" }).end();
    await runInScope(run, () => withSpan("inside", async () => {}));
    run.end();
    await withSpan("beside", async () => {});
    expect(trace.getSpans()).toHaveLength(4);
  });
  expect(own.spans.map((span) => span.name)).toEqual(["step", "inside", "run"]);
  expect(outer.spans.map((span) => span.name)).toEqual(["beside"]);
});

test("two copies of the package share one context", async () => {
  const folder = mkdtempSync(join(tmpdir(), "offstage-copy-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const part of ["tracing", "base", "errors.ts"]) {
    cpSync(new URL(`../${part}`, import.meta.url), join(folder, part), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const copy: typeof import("./with-span.ts") = await import(pathToFileURL(join(folder, "tracing/with-span.ts")).href);
  expect(copy.withSpan).not.toBe(withSpan);
  const exporter = memoryExporter();
  await withTrace("ours", { exporters: [exporter] }, async (trace) => {
    await copy.withSpan("theirs", (parent) =>
      withSpan("ours again", (span) => expect(span.parentSpanId).toBe(parent.spanId)),
    );
    expect(trace.getSpans().map((span) => span.name)).toEqual(["theirs", "ours again"]);
  });
  expect(checkSpans(exporter.spans)).toEqual([]);
});

test("work that freezes its span keeps its result", async () => {
  const frozen = await withSpan("frozen", async (span) => Object.freeze(span));
  expect(frozen.name).toBe("frozen");
});
