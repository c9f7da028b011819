// Steering: what a user says while a run works is seen by that run's model, or by the next one's, exactly once.
import { describe, expect, test } from "vitest";
import {
  Agent,
  type AgentOptions,
  type InMemorySession,
  memoryStore,
  type PersistentSession,
  tool,
  user,
} from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { paying, payTo } from "../support/approval-cast.ts";
import { calls, glance } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

type AnySession = InMemorySession | PersistentSession;

/** A tool during which something is said, and an agent that calls it. */
function interrupted(session: AnySession, script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) {
  const sent: Promise<{ joined: Promise<string> }>[] = [];
  const look = tool({
    name: "look",
    input: {},
    execute: async () => {
      sent.push(session.say("I meant Paris, Texas."));
      await sent.at(-1);
      return "Paris, France";
    },
  });
  const model = scriptedModel(script);
  return { sent, model, agent: new Agent({ name: "guide", model, tools: [look], ...options }) };
}

const lookFirst = calls({ name: "look", id: "c1" });
const conversation = ["user: Weather in Paris?", "user: I meant Paris, Texas.", "assistant: Hot."];

describe("what a user says while a run works", () => {
  onSessions("joins it between two steps, and the answer has seen it", async ({ play, session }) => {
    const { agent, model, sent } = interrupted(session, [lookFirst, "Hot."]);
    const result = await play(agent, "Weather in Paris?", { session });
    expect(result.output).toBe("Hot.");
    expect(glance(model.requests[1]?.messages ?? []).slice(-2)).toEqual([
      "tool: Paris, France",
      "user: I meant Paris, Texas.",
    ]);
    expect(glance(await session.getItems())).toEqual(conversation);
    expect(await (await sent[0])?.joined).toBe("run");
    expect(glance(result.messages.filter({ role: "user" }))).toEqual(conversation.slice(0, 2));
    const [turn, ...others] = (await session.query()).timeline();
    expect([turn?.userContent, turn?.assistantContent, others]).toEqual([
      "Weather in Paris?\nI meant Paris, Texas.",
      "Hot.",
      [],
    ]);
  });

  onSessions("joins it with a separate tool trace too", async ({ play, session }) => {
    const { agent, model } = interrupted(session, [lookFirst, "Hot.", "Still hot."], { separateToolTrace: true });
    const { state } = await play(agent, "Weather in Paris?", { session });
    expect(glance(state.messages.toArray())).toEqual(conversation);
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toBe("user: I meant Paris, Texas.");
    await play(agent, "And now?", { session });
    expect(glance(model.requests[2]?.messages ?? []).filter((each) => !each.startsWith("tool"))).toEqual([
      "user: Weather in Paris?",
      "user: I meant Paris, Texas.",
      expect.stringContaining("look"),
      "assistant: Hot.",
      "user: And now?",
    ]);
  });

  onSessions("makes a run that is about to answer take one more step", async ({ play, session }) => {
    const script = [
      async () => {
        await session.say("I meant Paris, Texas.");
        return "Mild.";
      },
      "Hot.",
    ];
    for (const separateToolTrace of [false, true]) {
      await session.clearSession();
      const model = scriptedModel(script);
      const agent = new Agent({ model, separateToolTrace });
      const result = await play(agent, "Weather in Paris?", { session });
      expect([result.output, result.steps.length]).toEqual(["Hot.", 2]);
      expect(glance(model.requests[1]?.messages ?? [])).toEqual([
        "user: Weather in Paris?",
        "assistant: Mild.",
        "user: I meant Paris, Texas.",
      ]);
      expect(glance(await session.getItems())).toEqual(conversation);
      expect(glance(result.state.messages.toArray()).at(-1)).toBe("assistant: Hot.");
    }
  });

  onStores(
    "is recorded with its step, so that the input of the next one is exact",
    async ({ play, session, store }) => {
      const { agent, model } = interrupted(session, [lookFirst, "Hot."]);
      const { runId } = await play(agent, "Weather in Paris?", { session });
      const seen = await store.runs.input(runId, 2);
      expect(glance(seen?.messages ?? [])).toEqual(glance(model.requests[1]?.messages ?? []));
      const run = await store.runs.get(runId);
      expect(run?.steps[0]?.messages.at(-1)).toMatchObject({
        role: "user",
        metadata: { isJoined: true, step: 1, runId },
      });
    },
  );

  onSessions("is not part of the conversation before it joins", async ({ play, session }) => {
    const sent = await session.say("First this.");
    expect([await sent.joined, await session.getItems(), await session.getItemCount()]).toEqual(["next", [], 0]);
    const model = scriptedModel(["Done."]);
    const result = await play(new Agent({ model }), "Then that.", { session });
    const order = ["user: First this.", "user: Then that."];
    expect(glance(model.requests[0]?.messages ?? [])).toEqual(order);
    expect(glance(await session.getItems())).toEqual([...order, "assistant: Done."]);
    expect(glance(result.messages.all())).toEqual([...order, "assistant: Done."]);
  });

  onSessions("is left for the next run if a limit forbids another step", async ({ play, session }) => {
    const { agent, sent } = interrupted(session, [lookFirst, "Mild.", "Hot."]);
    const first = await play(agent, "Weather in Paris?", { session, maxSteps: 1 });
    expect(first.outcome.reason).toBe("step-limit");
    const say = async () => {
      await session.say("And?");
      return "Mild.";
    };
    const second = await play(new Agent({ model: scriptedModel([say]) }), "So?", { session, maxSteps: 1 });
    expect([second.output, second.outcome.reason]).toEqual(["Mild.", "answered"]);
    const third = scriptedModel(["Yes."]);
    await play(new Agent({ model: third }), "Well?", { session });
    expect(glance(third.requests[0]?.messages ?? []).slice(-2)).toEqual(["user: And?", "user: Well?"]);
    expect(await (await sent[0])?.joined).toBe("next");
  });

  onSessions("is checked by the input guardrails, and a trip ends the run", async ({ play, session }) => {
    const inputGuardrails = [{ name: "no-texas", check: ({ text }: { text: string }) => !text.includes("Texas") }];
    const { agent, model } = interrupted(session, [lookFirst, "Never."], { inputGuardrails });
    const { outcome, guardrailTrips } = await play(agent, "Weather in Paris?", { session });
    expect([outcome.status, outcome.reason, guardrailTrips.length]).toEqual(["stopped", "guardrail", 1]);
    expect(model.callCount).toBe(1);
    expect(glance(await session.getItems())).toEqual(["user: Weather in Paris?"]);
    await session.say("Texas again.");
    const second = await play(agent, "Hello", { session });
    expect([second.outcome.reason, glance(await session.getItems())]).toEqual([
      "guardrail",
      ["user: Weather in Paris?"],
    ]);
  });

  onStores("approves nothing, and joins a waiting run when that is resumed", async ({ play, session, store }) => {
    const { pay, paid } = paying();
    const model = scriptedModel([calls(payTo("ann")), "Paid."]);
    const agent = new Agent({ name: "payer", model, tools: [pay] });
    const { runId } = await play(agent, "Pay", { session });
    await session.say("Yes, do it!");
    expect((await agent.resume(runId, { store })).outcome.status).toBe("waiting");
    expect(paid).toEqual([]);
    await agent.resume(runId, { store, approve: ["ann"] });
    expect(glance(model.requests[1]?.messages ?? []).slice(-2)).toEqual(["tool: paid ann", "user: Yes, do it!"]);
    expect(glance(await session.getItems())).toEqual(["user: Pay", "user: Yes, do it!", "assistant: Paid."]);
  });

  test("is announced with message-joined", async () => {
    const session = memoryStore().session("s");
    const { agent } = interrupted(session, [lookFirst, "Hot."]);
    const seen: string[] = [];
    for await (const event of agent.stream("Weather in Paris?", { session }))
      if (event.type === "message-joined" || event.type === "step-end" || event.type === "message-added")
        seen.push(`${event.type} ${event.step ?? ""} ${"message" in event ? event.message.role : ""}`.trim());
    expect(seen).toContain("message-joined 1 user");
    expect(seen.filter((each) => each === "message-added 1 user")).toHaveLength(1);
  });

  onSessions("spares a draft the check of the output schema", async ({ play, session }) => {
    const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const draft = async () => {
      await session.say("As JSON!");
      return "One.";
    };
    const model = scriptedModel([draft, '{"n":2}']);
    const agent = new Agent({ model, output, outputRetries: 0 });
    expect((await play(agent, "Count", { session })).output).toEqual({ n: 2 });
    expect(glance(model.requests[1]?.messages ?? []).slice(1)).toEqual([
      "user: Count",
      "assistant: One.",
      "user: As JSON!",
    ]);
  });

  test.each([[""], [5], [{ role: "assistant", content: "x" }], [undefined]])("cannot be %j", async (said) => {
    const session = memoryStore().session("s");
    await expect(session.say(said as string)).rejects.toMatchObject({ code: "invalid-argument" });
  });
});

describe('onBusy: "steer"', () => {
  onStores("says the input to the run that works, and resolves with its result", async ({ session }) => {
    const { promise: looking, resolve } = Promise.withResolvers<void>();
    const look = tool({
      name: "look",
      input: {},
      execute: async () => {
        resolve();
        await joined;
        return "Paris, France";
      },
    });
    const { promise: joined, resolve: go } = Promise.withResolvers<void>();
    const model = scriptedModel([lookFirst, "Hot."]);
    const agent = new Agent({ model, tools: [look] });
    const first = agent.run("Weather in Paris?", { session });
    await looking;
    const second = agent.run(user("I meant Paris, Texas."), { session, onBusy: "steer" });
    setTimeout(go, 30);
    expect(await second).toBe(await first);
    expect(glance(await session.getItems())).toEqual(conversation);
    expect((await session.runs()).length).toBe(1);
  });

  onStores("runs here if no run works, or if that run ended first", async ({ play, session }) => {
    const agent = new Agent({ model: scriptedModel(["One.", "Two."]) });
    expect((await play(agent, "Hi", { session, onBusy: "steer" })).output).toBe("One.");
    const { promise: began, resolve } = Promise.withResolvers<void>();
    const last = async () => {
      resolve();
      await new Promise((done) => setTimeout(done, 20));
      return "Limit.";
    };
    const busy = new Agent({ model: scriptedModel([last]), maxSteps: 1 }).run("Work", { session });
    await began;
    const { output } = await agent.run("Again", { session, onBusy: "steer" });
    expect([output, (await busy).output]).toEqual(["Two.", "Limit."]);
    expect(glance(await session.getItems()).slice(-4)).toEqual([
      "user: Work",
      "assistant: Limit.",
      "user: Again",
      "assistant: Two.",
    ]);
  });

  test("inside a tool of the run that works is refused, because it would wait for itself", async () => {
    const session = memoryStore().session("s");
    const inner = new Agent({ model: scriptedModel(["Never."]) });
    const nest = tool({ name: "nest", input: {}, execute: () => inner.run("Hi", { session, onBusy: "steer" }) });
    const agent = new Agent({ model: scriptedModel([calls({ name: "nest" }), "Done."]), tools: [nest] });
    const { steps } = await agent.run("Go", { session });
    expect(String(steps[0]?.toolResults[0]?.content)).toContain("deadlock");
    expect(glance(await session.getItems())).toEqual(["user: Go", "assistant: Done."]);
  });
});
