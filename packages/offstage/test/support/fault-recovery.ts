// An agent for fault injection, and the check that a session recovered: the next message works and every run can be finished.
import { expect } from "vitest";
import { Agent, isOffstageError, type PersistentSession, type Store, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, echo, echoing, glance } from "./cast.ts";

/** An agent that answers with the help of two tools and a subagent, and records the effects of its tools. */
export function workingAgent() {
  const effects: string[] = [];
  const charge = tool({ name: "charge", execute: (_, { runId }) => void effects.push(runId) });
  const child = new Agent({
    name: "child",
    model: scriptedModel(({ messages }) => (messages.at(-1)?.role === "user" ? calls(echoing("b")) : "Seen.")),
    tools: [echo],
  });
  const asking = { name: "child", input: { prompt: "Look" } };
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === "user" ? calls(echoing("a"), { name: "charge" }, asking) : "Done.",
  );
  const agent = new Agent({ model, tools: [echo, charge, child.asTool()], separateToolTrace: true });
  return { agent, effects };
}

export type Working = ReturnType<typeof workingAgent>;

/** Expects that the next message is answered, that no run is stuck, and that no effect happened twice. */
export async function expectRecovered(store: Store, session: PersistentSession, { agent, effects }: Working) {
  const next = await agent.run("Next", { session });
  expect(next.outcome.status).toBe("completed");
  expect(glance(await session.getItems(2))).toEqual(["user: Next", "assistant: Done."]);
  expect(await store.verify()).toEqual([]);
  for (const { runId, status } of await session.runs()) {
    if (status === "completed" || status === "stopped") {
      await expect(agent.resume(runId, { store })).rejects.toMatchObject({ code: "run-not-resumable" });
    } else expect((await agent.resume(runId, { store })).outcome.status).toBe("completed");
  }
  const said = glance(await session.getItems());
  expect(said.filter((line) => line === "user: Next")).toHaveLength(1);
  expect(said.filter((line) => line === "user: Go").length).toBeLessThanOrEqual(1);
  const answered = (await session.runs()).filter(({ status }) => status === "completed");
  const whole = (await session.getItems()).filter(({ metadata }) => metadata?.interrupted !== true);
  expect(glance(whole).filter((line) => line === "assistant: Done.")).toHaveLength(answered.length);
  expect(new Set(effects).size, "no tool ran twice").toBe(effects.length);
  expect(await store.verify()).toEqual([]);
}

/** Returns true if the error is the injected fault, or was caused by it. */
export function isCausedBy(error: unknown, fault: Error): boolean {
  return error === fault || (isOffstageError(error) && (error.cause === fault || isCausedBy(error.cause, fault)));
}
