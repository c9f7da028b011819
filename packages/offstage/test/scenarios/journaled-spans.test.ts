// Spans in the journal of a run: all of its own, however they were made, and no others.
import { expect, test } from "vitest";
import { storeExporter } from "../../src/doors/tracing.ts";
import { Agent, type Store, sqliteStore, TraceContext, TraceSpan, tool, withSpan, withTrace } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { memoryExporter } from "../../src/tracing/exporters/memory.ts";

const calling = () => scriptedModel([{ toolCalls: [{ name: "work", input: {} }] }, "Done."]);

async function spanNames(store: Store, work: () => Promise<unknown>): Promise<string[]> {
  const agent = new Agent({ name: "outer", model: calling(), tools: [tool({ name: "work", execute: work })] });
  const { runId } = await agent.run("Hi", { session: store.session("s") });
  return (await store.spans.list({ runId })).map(({ name }) => name);
}

test("spans that a tool adds to the trace itself are stored with its run", async () => {
  await using store = sqliteStore({ path: ":memory:" });
  const names = await spanNames(store, async () => {
    const trace = TraceContext.current as TraceContext;
    trace.addSpan(new TraceSpan({ name: "by hand", startTime: Date.now(), endTime: Date.now() }));
    await trace.run(() => withSpan("in the trace", async () => 1));
    await trace.run(() => new Agent({ name: "inner", model: scriptedModel(["Yes."]) }).run("?"));
    return "ok";
  });
  expect(names).toEqual(expect.arrayContaining(["outer", "work", "by hand", "in the trace", "inner"]));
});

test("an agent with its own exporters, run inside a tool, keeps its spans out of the outer run's journal", async () => {
  await using store = sqliteStore({ path: ":memory:" });
  const exporter = memoryExporter();
  const tracing = { exporters: [exporter], content: true };
  const names = await spanNames(store, () =>
    new Agent({ name: "inner", model: scriptedModel(["A secret."]), tracing }).run("?"),
  );
  expect(names).not.toContain("inner");
  expect(exporter.spans.map(({ name }) => name)).toContain("inner");
});

test("spans of a nested run on another session of the same store are listed once", async () => {
  await using store = sqliteStore({ path: ":memory:" });
  const inner = new Agent({ name: "inner", model: scriptedModel(["Yes."]) });
  const names = await spanNames(store, () => inner.run("?", { session: store.session("t") }));
  const [{ traceId } = { traceId: "" }] = await store.spans.list({ sessionId: "s" });
  const ids = (await store.spans.list({ traceId })).map(({ spanId }) => spanId);
  expect(names).toContain("inner");
  expect(new Set(ids).size).toBe(ids.length);
});

test("spans that an exporter adds to the store of their session are listed once, beside spans of no run", async () => {
  await using store = sqliteStore({ path: ":memory:" });
  const exporter = storeExporter(store);
  const agent = new Agent({ name: "outer", model: scriptedModel(["Yes."]) });
  const { traceId } = await withTrace("both", { exporters: [exporter] }, async (trace) => {
    await withSpan("loose", () => agent.run("?", { session: store.session("s") }));
    return trace;
  });
  await exporter.shutdown();
  for (const place of [{ traceId }, { sessionId: "s" }]) {
    const names = (await store.spans.list(place)).map(({ name, kind }) => (kind === "session" ? kind : name));
    expect(names.filter((name) => name !== "session")).toEqual(["loose", "outer", "step", "scripted"]);
    const ids = (await store.spans.list(place)).map(({ spanId }) => spanId);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

test("span metadata that JSON cannot represent fails no run: the rest of the span is stored", async () => {
  await using store = sqliteStore({ path: ":memory:" });
  const metadata: Record<string, unknown> = { big: 1n, plain: "yes" };
  metadata.self = metadata;
  const agent = new Agent({
    model: calling(),
    tools: [tool({ name: "work", execute: () => withSpan("odd", { metadata: metadata as never }, async () => "ok") })],
  });
  const { runId, outcome } = await agent.run("Hi", { session: store.session("s") });
  const odd = (await store.spans.list({ runId })).find(({ name }) => name === "odd");
  expect(outcome.status).toBe("completed");
  expect(odd?.metadata).toMatchObject({ big: "1", plain: "yes" });
});

test("a run in a trace from another process marks its parent as remote, also when read back from the store", async () => {
  await using store = sqliteStore({ path: ":memory:" });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const agent = new Agent({ name: "served", model: scriptedModel(["Yes."]) });
  const served = () => agent.run("?", { session: store.session("s") });
  const { runId } = await withTrace("request", { headers: { traceparent } }, served);
  const spans = await store.spans.list({ runId });
  expect(spans.filter(({ parentIsRemote }) => parentIsRemote)).toMatchObject([
    { name: "served", parentSpanId: "b7ad6b7169203331" },
  ]);
});

test("reads and writes of the session are exported, and are no part of the record", async () => {
  await using store = sqliteStore({ path: ":memory:" });
  const exporter = memoryExporter();
  const tools = [tool({ name: "work", execute: () => "ok" })];
  const agent = new Agent({ model: calling(), tools, tracing: { exporters: [exporter] } });
  const { runId } = await agent.run("Hi", { session: store.session("s") });
  const exported = exporter.spans.filter(({ kind }) => kind === "session").map(({ name }) => name);
  expect(exported).toEqual(["session.open", "session.step", "session.end"]);
  const kinds = (await store.spans.list({ runId })).map(({ kind }) => kind);
  expect(kinds).toEqual(["run", "step", "model", "tool", "step", "model"]);
});
