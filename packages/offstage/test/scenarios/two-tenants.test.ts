// D6: nothing is keyed by session id alone. Two tenants have the same session id and share one agent object.
import { expect, test } from "vitest";
import type { AgentOptions } from "../../src/agent/ports/agent-options.ts";
import { Agent, ConversationMemory, type Message, memoryStore, type Store, tool } from "../../src/index.ts";
import { compactor } from "../../src/memory/compaction/compactor.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import { createStore } from "../../src/sessions/store.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";

type MemoryFunction = Extract<NonNullable<AgentOptions["memory"]>, (...given: never[]) => unknown>;
type Place = Parameters<MemoryFunction>[0];

const tenants = ["red", "blue"] as const;

/** Answers with everything the model was shown, so that a leak is visible in the answer. */
function mirror(): ScriptedModel {
  return scriptedModel((request) => `seen: ${request.messages.map(({ content }) => content).join(" | ")}`);
}

const shownTo = (model: ScriptedModel): string => JSON.stringify(model.requests.at(-1)?.messages);

/** Lets both tenants talk in turns, and checks that no model call of one shows a word of the other. */
async function talk(agent: Agent, model: ScriptedModel, store: Store, turns = 4): Promise<void> {
  for (let n = 0; n < turns; n++) {
    for (const tenant of tenants) {
      await agent.run(`${tenant} ${n}`, { session: store.namespace(tenant).session("same") });
      const other = tenants.find((each) => each !== tenant) ?? "";
      expect(shownTo(model)).toContain(`${tenant} ${n}`);
      expect(shownTo(model)).not.toContain(other);
    }
  }
}

test("memories of two tenants never meet: the function is given session and namespace", async () => {
  const model = mirror();
  const memories = new Map<string, ConversationMemory>();
  const places: Place[] = [];
  const memory = (place: Place): ConversationMemory => {
    places.push(place);
    const key = JSON.stringify([place.namespace, place.sessionId]);
    const known = memories.get(key) ?? new ConversationMemory();
    memories.set(key, known);
    return known;
  };
  await talk(new Agent({ model, memory }), model, memoryStore());
  expect([...memories.keys()]).toEqual(tenants.map((tenant) => JSON.stringify([tenant, "same"])));
  expect(places).toHaveLength(8);
});

test("a run that is resumed through a store, and a subagent, get the memory of their conversation", async () => {
  const store = memoryStore();
  const places: Record<string, Place[]> = { desk: [], helper: [] };
  const memoryOf = (name: string) => (place: Place) => {
    places[name]?.push(place);
    return new ConversationMemory();
  };
  const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
  const helper = new Agent({ name: "helper", model: mirror(), memory: memoryOf("helper") });
  const model = scriptedModel((request) => {
    if (request.messages.at(-1)?.role === "tool") return "done";
    return { toolCalls: [{ name: "pay" }, { name: "helper", input: { prompt: "go" } }] };
  });
  const agent = new Agent({ name: "desk", model, tools: [pay, helper.asTool()], memory: memoryOf("desk") });
  for (const tenant of tenants) {
    const home = store.namespace(tenant);
    const { runId, approvals } = await agent.run("hi", { session: home.session("same") });
    expect((await agent.resume(runId, { store: home, approve: [...approvals] })).outcome.status).toBe("completed");
  }
  const [red, blue] = tenants.map((namespace) => ({ sessionId: "same", namespace }));
  expect(places).toEqual({ desk: [red, red, blue, blue], helper: [red, blue] });
});

test("compactions of two tenants never meet", async () => {
  const model = mirror();
  const compaction = compactor({ threshold: 60 });
  await talk(new Agent({ model, compaction }), model, memoryStore(), 6);
});

test("remembered tools, cached histories and branches of two tenants never meet", async () => {
  const store = memoryStore();
  const model = scriptedModel(({ messages }) => {
    const isDone = messages.at(-1)?.role === "tool";
    return isDone ? "done" : { toolCalls: [{ name: "note", input: { text: String(messages.at(-1)?.content) } }] };
  });
  const note = tool({ name: "note", execute: (input) => JSON.stringify(input) });
  const agent = new Agent({ model, tools: [note], toolHistory: "full" });
  await talk(agent, model, store);
  for (const tenant of tenants) {
    const home = store.namespace(tenant);
    const branch = await home.session("same").branch(2, { id: "copy" });
    const text = JSON.stringify((await branch.query()).all());
    expect(text).toContain(tenant);
    expect(text).not.toContain(tenants.find((each) => each !== tenant));
    expect((await home.sessions.list()).map(({ sessionId }) => sessionId)).toEqual(["copy", "same"]);
  }
});

test("a run of one tenant does not wait for a run of the other, and cannot be read by it", async () => {
  const driver = memoryDriver();
  const [one, other] = [createStore(driver), createStore(driver)];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = new Agent({ model: scriptedModel([async () => held.then(() => "slow")]) });
  const quick = new Agent({ model: scriptedModel(["quick"]) });
  const running = slow.run("hi", { session: one.namespace("red").session("same") });
  const session = other.namespace("blue").session("same");
  expect((await quick.run("hi", { session, onBusy: "reject" })).text).toBe("quick");
  release();
  const { runId } = await running;
  expect(await other.namespace("blue").runs.get(runId)).toBeUndefined();
  expect(await other.namespace("blue").runs.input(runId, 1)).toBeUndefined();
  expect((await other.namespace("red").runs.get(runId))?.status).toBe("completed");
  await expect(quick.resume(runId, { store: other.namespace("blue") })).rejects.toMatchObject({
    code: "run-not-found",
  });
});

test.for([
  ["compaction", () => ({ compaction: compactor({ threshold: 2_000 }) })],
  ["a small compaction", () => ({ compaction: compactor({ threshold: 80 }) })],
  ["memory", () => ({ memory: new ConversationMemory() })],
  [
    "a memory function",
    () => {
      const memory = new ConversationMemory();
      return { memory: () => memory };
    },
  ],
] as const)("an agent with %s sees what another process said on its session", async ([, options]) => {
  const driver = memoryDriver();
  const [here, there] = [createStore(driver), createStore(driver)];
  const [model, theirs] = [scriptedModel(() => "ok"), scriptedModel(() => "fine")];
  const agent = new Agent({ model, ...options() });
  const other = new Agent({ model: theirs, ...options() });
  for (let n = 0; n < 5; n++) {
    await agent.run(`here ${n}`, { session: here.session("s") });
    if (n > 0) expect(shownTo(model)).toContain(`there ${n - 1}`);
    await other.run(`there ${n}`, { session: there.session("s") });
    expect(shownTo(theirs)).toContain(`here ${n}`);
  }
  const added: Message = { role: "user", content: "By the way: tea." };
  await there.session("s").addItem(added);
  await agent.run("And now?", { session: here.session("s") });
  expect(shownTo(model)).toContain("By the way: tea.");
});
