// A run that something disturbs, and what must hold after it: the next message works, and what was cut off can be finished.
import { expect } from "vitest";
import { Agent, isOffstageError, type PersistentSession, type Store, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, echo, echoing, glance } from "./cast.ts";

/** An agent that answers a question with two tools and a subagent, and counts what its tools did. */
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

/** The next message is answered, the disturbed run can be finished or is over, and no effect happened twice. */
export async function expectUnharmed(store: Store, session: PersistentSession, { agent, effects }: Working) {
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

/** True where the error is the disturbance itself, or what the agent made of it. */
export function isFrom(error: unknown, disturbance: Error): boolean {
  return (
    error === disturbance ||
    (isOffstageError(error) && (error.cause === disturbance || isFrom(error.cause, disturbance)))
  );
}
