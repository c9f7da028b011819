// Two servers of one store: what one of them knows of runs is not all there is.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type ServedEvent, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { chunksOf, get, post, stop } from "./serving.ts";

function twoServers() {
  const pay = tool({ name: "pay", needsApproval: true, execute: () => sleep(200, "paid") });
  const model = scriptedModel(async ({ messages }) => {
    const asked = String(messages.findLast(({ role }) => role === "user")?.content);
    if (messages.at(-1)?.role === "tool") return "Paid.";
    if (asked.startsWith("pay")) return { toolCalls: [{ name: "pay", id: asked }] };
    if (asked === "B") await sleep(200);
    return `To ${asked}.`;
  });
  const store = memoryStore();
  const agent = new Agent({ model, tools: [pay] });
  const open = () => serve({ agent, store, protocol: "events", authorize: () => ({}), onError: () => undefined });
  return { one: open(), two: open(), session: store.session("s") };
}

test("the run that works elsewhere is streamed, not the end of an older one here", async () => {
  const { one, two, session } = twoServers();
  await (await post(one, { id: "s", message: "A" })).body?.cancel();
  await sleep(50);
  const working = await post(two, { id: "s", message: "B" });
  const [run] = await session.runs({ status: "running" });
  const events = await chunksOf<ServedEvent>(await get(one, "s/stream"));
  expect(new Set(events.map(({ runId }) => runId))).toEqual(new Set([run?.runId]));
  await working.text();
});

test("a stop reaches an older run that works elsewhere, and a newer one that waits", async () => {
  const { one, two, session } = twoServers();
  for (const message of ["pay1", "pay2"]) await (await post(one, { id: "s", message })).text();
  const working = await post(two, { id: "s", approve: ["pay1"] });
  await sleep(50);
  expect((await session.runs()).map(({ status }) => status)).toEqual(["waiting", "running"]);
  await stop(one, "s");
  await working.text();
  expect((await session.runs()).map(({ status }) => status)).toEqual(["stopped", "stopped"]);
});

test("a waiting call of a subagent does not tell the name of the agent, unless more is shown", async () => {
  const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
  const told = async (show: "conversation" | "trace") => {
    const hidden = new Agent({
      name: "hidden",
      model: scriptedModel([{ toolCalls: [{ name: "pay" }] }]),
      tools: [pay],
    });
    const model = scriptedModel([{ toolCalls: [{ name: "helper", input: { prompt: "Pay." } }] }]);
    const agent = new Agent({ model, tools: [hidden.asTool({ name: "helper", description: "Helps." })] });
    const chat = serve({ agent, store: memoryStore(), protocol: "events", show, authorize: () => ({}) });
    const response = await post(chat, { id: "s", message: "Pay" });
    return response.text();
  };
  const text = await told("conversation");
  expect(text).toContain("approval-request");
  expect(text).not.toContain("hidden");
  expect(await told("trace")).toContain("hidden");
});
