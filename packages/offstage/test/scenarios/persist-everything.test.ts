// persist: "everything" puts each message into the conversation once and in order, however often the run is resumed.
import { describe, expect } from "vitest";
import * as z from "zod";
import { Agent, type AgentOptions, type AgentState, type RunResult, type SessionPort } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { paying, payTo } from "../support/approval-cast.ts";
import { broken, calls, echo, echoing, glance } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

const down = new Error("the model is down");
const persist = "everything";

function worker(script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) {
  return new Agent({ name: "worker", model: scriptedModel(script), tools: [echo, broken, paying().pay], ...options });
}

const sources: Readonly<Record<string, (left: RunResult<unknown>) => AgentState | string>> = {
  id: ({ runId }) => runId,
  state: ({ state }) => state,
};

for (const [name, sourceOf] of Object.entries(sources)) {
  describe(`with persist: "everything" and resumed by ${name}`, () => {
    onSessions("a run that failed twice has its tool messages once, in order", async ({ fail, session }) => {
      const agent = worker([calls(echoing("a")), down, calls(echoing("b")), down, calls(echoing("c")), "All said."]);
      const { result } = await fail(agent, "Go", { session, persist });
      const again = agent.resume(sourceOf(result), { session, persist });
      const second = await again.catch((error) => error.result as RunResult<unknown>);
      await agent.resume(sourceOf(second), { session, persist });
      expect(glance(await session.getItems())).toEqual([
        "user: Go",
        "assistant: [echo]",
        "tool: echo a",
        "assistant: [echo]",
        "tool: echo b",
        "assistant: [echo]",
        "tool: echo c",
        "assistant: All said.",
      ]);
      expect(glance((await session.query()).all())).toHaveLength(8);
    });

    onSessions("a run that waited has its tool messages once, in order", async ({ play, session }) => {
      const agent = worker([calls(echoing("a")), calls(payTo("ann")), "Paid."]);
      const waiting = await play(agent, "Go", { session, persist });
      await agent.resume(sourceOf(waiting), { session, persist, approve: ["ann"] });
      expect(glance(await session.getItems())).toEqual([
        "user: Go",
        "assistant: [echo]",
        "tool: echo a",
        "assistant: [pay]",
        "tool: paid ann",
        "assistant: Paid.",
      ]);
    });
  });
}

onSessions('resuming with persist: "everything" also adds the tool messages from before the failure', async (scene) => {
  const { fail, session } = scene;
  const agent = worker([calls(echoing("a")), down, "Said."]);
  const { result } = await fail(agent, "Go", { session });
  await agent.resume(result.runId, { session, persist });
  expect(glance(await session.getItems())).toEqual([
    "user: Go",
    "assistant: [echo]",
    "tool: echo a",
    "assistant: Said.",
  ]);
});

describe("a run whose messages were removed from the conversation", () => {
  const removals = ["clearSession", "popTurn"] as const;
  for (const removal of removals)
    for (const options of [{ persist }, {}] as const)
      onSessions(
        `by ${removal}() is not resumed by id with options ${JSON.stringify(options)}`,
        async ({ fail, session }) => {
          const agent = worker([calls({ name: "broken" }), "Never."], { errorPolicy: "stop" });
          const { result } = await fail(agent, "Go", { session, ...options });
          await session[removal]();
          const resumed = agent.resume(result.runId, { session, ...options });
          await expect(resumed).rejects.toMatchObject({
            code: "run-not-resumable",
            message: expect.stringMatching(/removed from the conversation.*new run/),
          });
          expect(await session.getItems()).toEqual([]);
          expect(await session.runs()).toMatchObject([{ status: "failed" }]);
        },
      );

  onSessions("can still be resumed by state", async ({ fail, session }) => {
    const agent = worker([calls({ name: "broken" }), down, "Said."]);
    const { result } = await fail(agent, "Go", { session, persist });
    await session.clearSession();
    expect((await agent.resume(result.state, { session, persist })).output).toBe("Said.");
    expect(glance(await session.getItems())).toEqual(["assistant: Said."]);
  });
});

onSessions('persist: "everything" stores the answer of a run that was aborted after it once', async (scene) => {
  const { play, session } = scene;
  const aborting = new AbortController();
  const processors: AgentOptions["processors"] = [
    async (state, next) => {
      const after = await next(state);
      if (after.outcome !== undefined) aborting.abort(down);
      return after;
    },
  ];
  const agent = worker([calls(echoing("a")), "All said."], { processors });
  await expect(play(agent, "Go", { session, persist, signal: aborting.signal })).rejects.toBe(down);
  expect(glance(await session.getItems())).toEqual([
    "user: Go",
    "assistant: [echo]",
    "tool: echo a",
    "assistant: All said.",
  ]);
});

describe("a draft that becomes the partial answer at a limit", () => {
  const tools = [echo];
  const texts = async (session: SessionPort) => glance(await session.getItems());

  onStores("stands once, marked, after somebody spoke while the run worked", async ({ play, session }) => {
    const speak = async () => {
      await session.say("And Paris?");
      return "Draft.";
    };
    const agent = new Agent({ model: scriptedModel([speak, calls(echoing("a"))]), tools, maxSteps: 2 });
    const result = await play(agent, "Go", { session, persist });
    expect(result.outcome.reason).toBe("step-limit");
    const conversation = ["user: Go", "user: And Paris?", "assistant: Draft.", "assistant: [echo]", "tool: echo a"];
    expect(await texts(session)).toEqual(conversation);
    expect(await session.getItemCount()).toBe(5);
    expect((await session.getItems())[2]?.metadata?.interrupted).toBe(true);
    const next = scriptedModel(["Next."]);
    await new Agent({ model: next, tools }).run("On", { session });
    expect(glance(next.requests[0]?.messages ?? [])).toEqual([...conversation, "user: On"]);
  });

  onStores("stands once if its output was sent back", async ({ play, session }) => {
    const output = z.object({ city: z.string() });
    const agent = new Agent({ model: scriptedModel(["Draft.", calls(echoing("a"))]), tools, maxSteps: 2, output });
    await play(agent, "Go", { session, persist });
    const items = await texts(session);
    expect(items.filter((each) => each === "assistant: Draft.")).toHaveLength(1);
    expect(await session.getItemCount()).toBe(items.length);
  });

  for (const options of [{ persist }, {}] as const)
    onStores(`stands once if a second limit stops the run, with options ${JSON.stringify(options)}`, async (scene) => {
      const { play, session, store } = scene;
      const output = z.object({ city: z.string() });
      const script = ["Draft.", calls(echoing("a")), calls(echoing("b"))];
      const agent = new Agent({ model: scriptedModel(script), tools, output });
      const { runId } = await play(agent, "Go", { session, ...options, maxSteps: 2 });
      await agent.resume(runId, { store, ...options, maxSteps: 3 });
      const items = await texts(session);
      expect(items.filter((each) => each === "assistant: Draft.")).toHaveLength(1);
      expect(await session.getItemCount()).toBe(items.length);
    });
});
