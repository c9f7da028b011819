// The span tree of a run with parallel tools and a nested subagent, however the run ends and its stream is read.
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { memoryExporter, type SpanData, type SpanNode, spanTree } from "../../src/doors/tracing.ts";
import { Agent, type AgentStream, tool, withTrace } from "../../src/index.ts";
import { checkSpans, type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";

type Tree = readonly [label: string, ...below: Tree[]];

const ok = tool({ name: "ok", execute: async () => "fine" });
const bad = tool({
  name: "bad",
  execute: () => {
    throw new Error("no");
  },
});
const hang = tool({ name: "hang", execute: () => new Promise(() => undefined) });

/** A director that calls tools and an assistant in parallel. The assistant calls one tool of its own. */
function cast(last: ScriptEntry, tools = [ok, bad]) {
  const exporter = memoryExporter();
  const helper = scriptedModel([{ toolCalls: [{ name: "ok" }] }, "Done."], { modelId: "small" });
  const assistant = new Agent({ name: "assistant", model: helper, tools: [ok] });
  const calls = [...tools.map(({ name }) => ({ name })), { name: "assistant", input: { prompt: "Help." } }];
  const model = scriptedModel([{ toolCalls: calls }, last], { modelId: "big" });
  const agent = new Agent({
    name: "director",
    model,
    tools: [...tools, assistant.asTool()],
    tracing: { exporters: [exporter] },
  });
  return { agent, spans: () => exporter.spans };
}

const helperRun: Tree = [
  "run assistant ok",
  ["step step ok", ["model small ok"], ["tool ok ok"]],
  ["step step ok", ["model small ok"]],
];
const firstStep: Tree = [
  "step step ok",
  ["model big ok"],
  ["tool assistant ok", helperRun],
  ["tool bad error"],
  ["tool ok ok"],
];

function treeOf(spans: readonly SpanData[]): Tree[] {
  const label = ({ kind, name, status }: SpanData) => `${kind} ${name} ${status}`;
  const build = (nodes: readonly SpanNode[]): Tree[] =>
    nodes.map(({ span, children }): Tree => [label(span), ...sorted(build(children))]);
  return build(spanTree(spans));
}

// Keeps steps in order, and sorts parallel spans by name.
function sorted(trees: Tree[]): Tree[] {
  return trees.every(([label]) => label.startsWith("step")) ? trees : trees.toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
}

/** Reads a stream in another async context than the one it was started in. */
function consumedElsewhere(stream: AgentStream): Promise<void> {
  const elsewhere = new EventEmitter();
  const done = new Promise<void>((resolve, reject) => {
    elsewhere.on("stream", (given: AgentStream) => {
      const read = async () => {
        for await (const _ of given);
      };
      withTrace("elsewhere", read).then(resolve, reject);
    });
  });
  setImmediate(() => elsewhere.emit("stream", stream));
  return done;
}

test.for(["run", "stream"])("a completed run gives exactly the expected tree (%s)", async (way) => {
  const { agent, spans } = cast("All is well.");
  if (way === "run") await agent.run("Go.");
  else await consumedElsewhere(agent.stream("Go."));
  expect(treeOf(spans())).toEqual([["run director ok", firstStep, ["step step ok", ["model big ok"]]]]);
  expect(checkSpans(spans())).toEqual([]);
});

test.for(["run", "stream"])("a failed model call marks its span, its step and its run as errors (%s)", async (way) => {
  const { agent, spans } = cast(new Error("out of order"));
  const run = way === "run" ? agent.run("Go.") : consumedElsewhere(agent.stream("Go."));
  await expect(run).rejects.toThrow("out of order");
  expect(treeOf(spans())).toEqual([["run director error", firstStep, ["step step error", ["model big error"]]]]);
  expect(checkSpans(spans())).toEqual([]);
});

const cutShort: Tree = [
  "run director cancelled",
  ["step step cancelled", ["model big ok"], ["tool assistant ok", helperRun], ["tool hang cancelled"]],
];

async function untilHelperIsDone(stream: AgentStream): Promise<void> {
  for await (const event of stream) if (event.type === "tool-end" && event.toolName === "assistant") return;
}

test("an abort cancels the open spans and keeps the finished ones", async () => {
  const { agent, spans } = cast("never said", [hang]);
  const controller = new AbortController();
  const run = agent.run("Go.", {
    signal: controller.signal,
    hooks: { onToolEnd: ({ toolName }) => toolName === "assistant" && controller.abort() },
  });
  await expect(run).rejects.toThrow();
  expect(treeOf(spans())).toEqual([cutShort]);
  expect(checkSpans(spans())).toEqual([]);
});

test("breaking out of a stream cancels the open spans and keeps the finished ones", async () => {
  const { agent, spans } = cast("never said", [hang]);
  const stream = agent.stream("Go.");
  await untilHelperIsDone(stream);
  await expect(stream.result).rejects.toThrow();
  expect(treeOf(spans())).toEqual([cutShort]);
  expect(checkSpans(spans())).toEqual([]);
});

test("a stream that is not read to its end still gives the whole tree", async () => {
  const { agent, spans } = cast("All is well.");
  const stream = agent.stream("Go.");
  await stream[Symbol.asyncIterator]().next();
  await stream.result;
  expect(treeOf(spans())).toEqual([["run director ok", firstStep, ["step step ok", ["model big ok"]]]]);
});
