// Lesson 16: every run is traced, with a span for the run, each step, each model call and each tool. Inside `withTrace`, several
// runs and your own spans share one trace. A group id connects traces, for example those of one customer.
import { setTimeout } from "node:timers/promises";
import { Agent, tool, withSpan, withTrace } from "offstage";
import { scriptedModel } from "offstage/testing";
import { renderTrace } from "offstage/tracing";

const dim = tool({
  name: "dim_lights",
  description: "Dims the lights.",
  async execute() {
    await setTimeout(20);
    return "dimmed";
  },
});
const open = tool({ name: "open_curtain", description: "Opens the curtain.", execute: () => setTimeout(35, "open") });

const lights = new Agent({
  name: "lights",
  model: scriptedModel([{ toolCalls: [{ name: "dim_lights" }] }, "It is dark."]),
  tools: [dim],
});
const stage = new Agent({
  name: "stage",
  model: scriptedModel([{ toolCalls: [{ name: "open_curtain" }] }, "The curtain is open."]),
  tools: [open],
});

await withTrace("Opening night", { groupId: "season-2026" }, async (trace) => {
  const first = await lights.run("Dim the lights.");
  await withSpan("wait for silence", () => setTimeout(15));
  const second = await stage.run("Open the curtain.");

  console.log(renderTrace(trace));
  console.log(`\nBoth runs are in trace ${trace.traceId}: ${first.traceId === second.traceId}`);
  console.log(`${trace.getSpans().length} spans, group "${trace.groupId}"`);
});
