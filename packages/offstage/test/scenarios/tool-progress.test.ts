// A running tool reports how far it is. Listeners get it as it happens; the model and the record do not.
import { expect, test } from "vitest";
import { Agent, type AgentEvent, memoryStore, type ToolRunOptions, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const call = (name: string, input: object = {}) => ({ toolCalls: [{ name, input }] });
const upload = tool({
  name: "upload",
  execute: async (_, { progress }) => {
    progress({ percent: 50 });
    await Promise.resolve();
    progress({ percent: 100 });
    return "uploaded";
  },
});

async function eventsOf(agent: Agent): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of agent.stream("Go.")) events.push(event);
  return events;
}

test("progress is an event between the start and the end of its call, and a hook", async () => {
  const hooked: unknown[] = [];
  const agent = new Agent({
    model: scriptedModel([call("upload"), "Done."]),
    tools: [upload],
    hooks: { onToolProgress: ({ value }) => hooked.push(value) },
  });
  const events = await eventsOf(agent);
  const ofTool = events.filter(({ type }) => type.startsWith("tool-") && type !== "tool-input-delta");
  expect(ofTool.map(({ type }) => type)).toEqual(["tool-start", "tool-progress", "tool-progress", "tool-end"]);
  expect(ofTool[1]).toMatchObject({
    step: 1,
    toolName: "upload",
    toolCallId: expect.any(String),
    value: { percent: 50 },
  });
  expect(hooked).toEqual([{ percent: 50 }, { percent: 100 }]);
});

test("progress of a subagent's tool reaches the parent's stream", async () => {
  const child = new Agent({ name: "child", model: scriptedModel([call("upload"), "Done."]), tools: [upload] });
  const agent = new Agent({
    model: scriptedModel([call("child", { prompt: "Go" }), "Done."]),
    tools: [child.asTool()],
  });
  const inner = (await eventsOf(agent)).flatMap((event) => (event.type === "subagent-event" ? [event.event.type] : []));
  expect(inner.filter((type) => type === "tool-progress")).toHaveLength(2);
});

test("progress is not recorded, and neither the model nor the result has it", async () => {
  const store = memoryStore();
  const model = scriptedModel([call("upload"), "Done."]);
  const { messages } = await new Agent({ model, tools: [upload] }).run("Go.", { session: store.session("s") });
  expect(JSON.stringify([model.requests, messages.all(), await store.query({ session: "s" })])).not.toContain(
    "percent",
  );
});

test("any value is made JSON, and progress after the call has ended is dropped", async () => {
  let late: ToolRunOptions["progress"] | undefined;
  const odd = tool({
    name: "odd",
    execute: (_, { progress }) => {
      late = progress;
      progress(10n);
      progress(undefined);
      return "ok";
    },
  });
  const after = tool({ name: "after", execute: () => late?.("late") });
  const agent = new Agent({ model: scriptedModel([call("odd"), call("after"), "Done."]), tools: [odd, after] });
  const values = (await eventsOf(agent)).flatMap((event) => (event.type === "tool-progress" ? [event.value] : []));
  expect(values).toEqual(["10", null]);
});
