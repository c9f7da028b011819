// Questions: a tool asks a person in the middle of its work, the run waits, and the tool runs again with the answer.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Agent, AgentState, type Message, memoryStore, reactDriver, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, glance } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

const seatSchema = z.object({ seat: z.string().max(3) });

/** An agent that books a seat, for which its tool asks one or two questions. */
function booking({ isTwice = false, needsApproval = false } = {}) {
  const starts: string[] = [];
  const booked: string[] = [];
  const book = tool({
    name: "book",
    input: z.object({ train: z.string() }),
    needsApproval,
    execute: async ({ train }, { ask }) => {
      starts.push(train);
      const answer = await ask({ message: `Which seat in ${train}?`, schema: seatSchema });
      if (answer.declined) return "no seat was chosen";
      const meal = isTwice ? await ask({ message: "Which meal?" }) : "none";
      booked.push(`${answer.seat} ${meal}`);
      return `booked ${answer.seat} with meal ${meal}`;
    },
  });
  const model = scriptedModel([calls({ name: "book", id: "b1", input: { train: "IC 5" } }), "Booked."]);
  return { starts, booked, model, agent: new Agent({ name: "clerk", model, tools: [book] }) };
}

/** Two agents around the one that books. */
function bookingFamily() {
  const inner = booking();
  const middle = new Agent({
    name: "middle",
    model: scriptedModel([calls({ name: "clerk", id: "to-clerk", input: { prompt: "Book" } }), "Clerk booked."]),
    tools: [inner.agent.asTool()],
  });
  const model = scriptedModel([calls({ name: "middle", id: "to-middle", input: { prompt: "Book" } }), "All booked."]);
  return { ...inner, agent: new Agent({ name: "outer", model, tools: [middle.asTool()] }) };
}

const answers = [{ toolCallId: "b1", value: { seat: "12A" } }];

describe("a question of a tool", () => {
  onSessions("pauses the run, and its answer is returned when the tool runs again", async ({ play, session }) => {
    const { agent, starts, booked, model } = booking();
    const paused = await play(agent, "Book", { session });
    expect(paused.outcome).toMatchObject({ status: "waiting", reason: "question" });
    const { runId } = paused;
    const schema = { type: "object", properties: { seat: { type: "string", maxLength: 3 } }, required: ["seat"] };
    const place = { toolCallId: "b1", toolName: "book", input: { train: "IC 5" }, agent: "clerk", runId };
    const question = { kind: "question", ...place, message: "Which seat in IC 5?", schema };
    expect(paused.approvals).toMatchObject([question]);
    expect((await session.run(runId))?.approvals).toEqual(paused.approvals);
    expect([starts, booked]).toEqual([["IC 5"], []]);
    const done = await agent.resume(runId, { session, answers });
    expect([done.output, starts.length, booked]).toEqual(["Booked.", 2, ["12A none"]]);
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toBe("tool: booked 12A with meal none");
    expect(glance(await session.getItems())).toEqual(["user: Book", "assistant: Booked."]);
  });

  test("whose text is redacted in the record is asked once", async () => {
    const redact = <M extends Message>(message: M): M => {
      const { role, content } = message;
      return role === "user" && typeof content === "string"
        ? { ...message, content: content.replaceAll("IC 5", "[train]") }
        : message;
    };
    for (const { agent, booked } of [booking({ isTwice: true }), { ...bookingFamily() }]) {
      const store = memoryStore({ redact });
      const { runId } = await agent.run("Book", { session: store.session("s") });
      const [waiting] = (await store.runs.get(runId))?.approvals ?? [];
      expect(waiting).toMatchObject({ kind: "question", message: "Which seat in [train]?" });
      const next = await agent.resume(runId, { store, answers });
      if (next.outcome.status === "waiting") {
        expect(next.approvals).toMatchObject([{ message: "Which meal?" }]);
        await agent.resume(runId, { store, answers: [{ toolCallId: "b1", value: "soup" }] });
      }
      expect(booked).toEqual([expect.stringMatching(/^12A (soup|none)$/)]);
    }
  });

  bothWays("is answered through the state of the run, without a store", async ({ play }) => {
    const { agent, booked } = booking({ isTwice: true });
    const first = await play(agent, "Book");
    const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(first.state)));
    const second = await agent.resume(restored, { answers });
    expect(second.approvals).toMatchObject([{ kind: "question", message: "Which meal?" }]);
    const again = AgentState.fromJSON(JSON.parse(JSON.stringify(second.state)));
    const done = await agent.resume(again, { answers: [{ toolCallId: "b1", value: "soup" }] });
    expect([done.output, booked]).toEqual(["Booked.", ["12A soup"]]);
  });

  onStores(
    "keeps a state, which is shown to nobody and given to the tool when it runs again",
    async ({ play, session, store }) => {
      const seen: unknown[] = [];
      const book = tool({
        name: "book",
        execute: async (_input, { ask, asked }) => {
          seen.push(asked);
          const seat = await ask({ message: "Which seat?", state: { reservation: "r1", tries: [1, 2] } });
          const meal = await ask({ message: "Which meal?", state: "secret state" });
          return `${seat} ${meal}`;
        },
      });
      const model = scriptedModel([calls({ name: "book", id: "b1" }), "Booked."]);
      const agent = new Agent({ model, tools: [book] });
      const paused = await play(agent, "Book", { session });
      expect(JSON.stringify(paused.approvals)).not.toContain("reservation");
      const { runId } = paused;
      await agent.resume(runId, { store, answers: [{ toolCallId: "b1", value: "12A" }] });
      const done = await agent.resume(runId, { store, answers: [{ toolCallId: "b1", declined: true }] });
      expect(done.output).toBe("Booked.");
      const first = { message: "Which seat?", state: { reservation: "r1", tries: [1, 2] } };
      expect(seen).toEqual([[], [first], [first, { message: "Which meal?", state: "secret state" }]]);
    },
  );

  test("tells the tool that it has to wait, so that it can close what is open", async () => {
    const seen: string[] = [];
    const book = tool({
      name: "book",
      execute: async (_input, { ask }) => {
        seen.push("open");
        const seat = await ask({ message: "Which seat?", onWait: () => void seen.push("close") });
        return `booked ${seat}`;
      },
    });
    const model = scriptedModel([calls({ name: "book", id: "b1" }), "Booked."]);
    const agent = new Agent({ model, tools: [book] });
    const paused = await agent.run("Book");
    await agent.resume(paused.state, { answers: [{ toolCallId: "b1", value: "12A" }] });
    expect(seen).toEqual(["open", "close", "open"]);
  });

  test("does not use up the time of its tool while a person thinks", async () => {
    const book = tool({
      name: "book",
      timeoutMs: 60,
      execute: async (_input, { ask, signal }) => {
        const seat = await ask({ message: "Which seat?" });
        if (seat === "slow") await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return `booked ${seat}`;
      },
    });
    const run = async (seat: string) => {
      const model = scriptedModel([calls({ name: "book" }), "Booked."]);
      const onApproval = () => new Promise<{ value: string }>((resolve) => setTimeout(resolve, 200, { value: seat }));
      await new Agent({ model, tools: [book] }).run("Book", { onApproval });
      return model.requests[1]?.messages.at(-1)?.content;
    };
    expect(await run("12A")).toBe("booked 12A");
    expect(await run("slow")).toContain("took longer than 60 ms");
  });

  test("whose state is not JSON is an error of the tool", async () => {
    const ask = tool({
      name: "ask",
      execute: (_input, { ask }) => ask({ message: "?", state: { size: 1n } as never }),
    });
    const model = scriptedModel([calls({ name: "ask" }), "Sorry."]);
    await new Agent({ model, tools: [ask] }).run("Ask");
    expect(model.requests[1]?.messages.at(-1)?.content).toContain("The state of a question must be JSON.");
  });

  onStores("may be followed by another one, and earlier answers are kept", async ({ play, session, store }) => {
    const { agent, booked, starts } = booking({ isTwice: true });
    const { runId } = await play(agent, "Book", { session });
    const second = await agent.resume(runId, { store, answers });
    expect(second.approvals).toMatchObject([{ kind: "question", message: "Which meal?" }]);
    expect((await store.runs.get(runId))?.approvals).toEqual(second.approvals);
    const done = await agent.resume(runId, { store, answers: [{ toolCallId: "b1", value: "soup" }] });
    expect([done.output, booked, starts.length]).toEqual(["Booked.", ["12A soup"], 3]);
  });

  onStores("keeps waiting without an answer, and its tool does not run", async ({ play, session, store }) => {
    const { agent, starts } = booking();
    const { runId, approvals } = await play(agent, "Book", { session });
    const still = await agent.resume(runId, { store });
    expect([still.outcome.status, still.approvals, starts.length]).toEqual(["waiting", approvals, 1]);
    expect(await store.runs.list({ status: "waiting" })).toHaveLength(1);
    expect((await agent.resume(runId, { store, answers })).output).toBe("Booked.");
  });

  onSessions("can be three levels down", async ({ play, session }) => {
    const { agent, booked } = bookingFamily();
    const { runId, approvals } = await play(agent, "Book", { session });
    expect(approvals).toMatchObject([{ kind: "question", agent: "clerk", toolCallId: "b1" }]);
    expect((await session.run(runId))?.approvals).toEqual(approvals);
    const bad = agent.resume(runId, { session, answers: [{ toolCallId: "b1", value: { seat: 5 } }] });
    await expect(bad).rejects.toMatchObject({ code: "invalid-argument" });
    const done = await agent.resume(runId, { session, answers });
    expect([done.output, booked]).toEqual(["All booked.", ["12A none"]]);
  });

  onSessions("can be declined", async ({ play, session }) => {
    const { agent, booked, model } = booking();
    const { runId } = await play(agent, "Book", { session });
    await agent.resume(runId, { session, answers: [{ toolCallId: "b1", declined: true }] });
    expect(booked).toEqual([]);
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toBe("tool: no seat was chosen");
  });

  onStores(
    "of a call that needs approval comes after the approval, which counts once",
    async ({ play, session, store }) => {
      const { agent, booked, starts } = booking({ needsApproval: true });
      const { runId, approvals } = await play(agent, "Book", { session });
      expect([approvals[0]?.kind, starts]).toEqual(["call", []]);
      const approve = [{ toolCallId: "b1", input: { train: "IC 7" } }];
      const asked = await agent.resume(runId, { store, approve });
      expect(asked.approvals).toMatchObject([
        { kind: "question", message: "Which seat in IC 7?", input: { train: "IC 7" } },
      ]);
      const done = await agent.resume(runId, { store, answers });
      expect([done.output, booked, starts]).toEqual(["Booked.", ["12A none"], ["IC 7", "IC 7"]]);
    },
  );

  test("is asked again if its text changed, because the answer was given to another question", async () => {
    let price = 12;
    const buy = tool({
      name: "buy",
      input: {},
      execute: async (_, { ask }) => `${price} ${JSON.stringify(await ask({ message: `Pay ${price++} EUR?` }))}`,
    });
    const agent = new Agent({ model: scriptedModel([calls({ name: "buy", id: "c" }), "Bought."]), tools: [buy] });
    const first = await agent.run("Buy");
    const second = await agent.resume(first.state, { answers: [{ toolCallId: "c", value: true }] });
    expect(second.approvals).toMatchObject([{ message: "Pay 13 EUR?" }]);
  });

  test("works with the ReAct driver", async () => {
    const book = tool({
      name: "book",
      input: {},
      execute: async (_, { ask }) => `seat ${await ask({ message: "Which seat?" })}`,
    });
    const model = scriptedModel(["Action: book\nAction Input: {}", "Final Answer: Booked."]);
    const agent = new Agent({ model, tools: [book], driver: reactDriver() });
    const { state, approvals } = await agent.run("Book");
    const done = await agent.resume(state, { answers: [{ toolCallId: approvals[0]?.toolCallId ?? "", value: "3C" }] });
    expect(done.output).toBe("Booked.");
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toContain("Observation: seat 3C");
  });

  test("beside other calls of its step lets them finish once", async () => {
    const effects: string[] = [];
    const count = tool({ name: "count", input: {}, execute: () => effects.push("counted") });
    const ask = tool({ name: "ask", input: {}, execute: (_, options) => options.ask({ message: "Well?" }) });
    const script = [calls({ name: "count", id: "1" }, { name: "ask", id: "2" }), "Done."];
    const store = memoryStore();
    const agent = new Agent({ model: scriptedModel(script), tools: [count, ask] });
    const { runId } = await agent.run("Go", { session: store.session("s") });
    const done = await agent.resume(runId, { store, answers: [{ toolCallId: "2", value: [1, null, "x"] }] });
    expect([done.output, effects]).toEqual(["Done.", ["counted"]]);
    expect(done.steps[0]?.toolResults[1]?.output).toEqual([1, null, "x"]);
  });
});

describe("an answer", () => {
  test.each([
    [[{ toolCallId: "b1", value: { seat: "12AB" } }], 'The answer to tool call "b1" does not fit its question'],
    [[{ toolCallId: "b1" }], "must be { toolCallId, value } or { toolCallId, declined: true }"],
    [[{ toolCallId: "b1", value: 1, declined: true }], "must be { toolCallId, value } or"],
    [[{ toolCallId: "b2", value: 1 }], 'No tool call "b2" waits'],
    [["b1"], "An answer must be { toolCallId, value }"],
    [[...answers, ...answers], 'two decisions about tool call "b1"'],
  ])("such as %j is refused before anything is written", async (given, sentence) => {
    const store = memoryStore();
    const { agent, starts } = booking();
    const { runId } = await agent.run("Book", { session: store.session("s") });
    const before = await store.runs.get(runId);
    const refused = agent.resume(runId, { store, answers: given as typeof answers });
    await expect(refused).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(refused).rejects.toThrow(sentence);
    expect(await store.runs.get(runId)).toEqual(before);
    expect(starts).toHaveLength(1);
  });

  test("and an approval are not taken for each other", async () => {
    const { agent } = booking();
    const asked = await agent.run("Book");
    await expect(agent.resume(asked.state, { approve: ["b1"] })).rejects.toThrow('Tool call "b1" asks a question');
    const waiting = booking({ needsApproval: true });
    const { state } = await waiting.agent.run("Book");
    await expect(waiting.agent.resume(state, { answers })).rejects.toThrow("waits for approval, not for an answer");
  });

  test("is used once: a second one is refused", async () => {
    const store = memoryStore();
    const { agent, booked } = booking();
    const { runId } = await agent.run("Book", { session: store.session("s") });
    await agent.resume(runId, { store, answers });
    await expect(agent.resume(runId, { store, answers })).rejects.toMatchObject({ code: "run-not-resumable" });
    expect(booked).toHaveLength(1);
  });
});
