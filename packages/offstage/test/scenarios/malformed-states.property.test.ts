// A damaged state is refused, or fails its own run. It never harms later runs of the same agent.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent, AgentState, isOffstageError, tool } from "../../src/index.ts";
import type { PendingStep } from "../../src/state/pending-step.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls } from "../support/cast.ts";

const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
const look = tool({ name: "look", execute: () => "seen" });

const model = scriptedModel(({ messages }) =>
  messages.at(-1)?.role === "tool" ? "Done." : calls({ name: "look" }, { name: "pay" }),
);
const agentWith = () => new Agent({ model, tools: [pay, look] });

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

async function resumesWell(agent: Agent): Promise<void> {
  const { state, approvals } = await agent.run("Go");
  const { output } = await agent.resume(state, { approve: approvals });
  expect(output).toBe("Done.");
}

test("any damage to a waiting state is refused, or fails that run alone", async () => {
  const { state, approvals } = await agentWith().run("Go");
  const json = JSON.parse(JSON.stringify(state));
  const paths = pathsOf(json.pendingStep).map((path) => ["pendingStep", ...path]);
  const damage = fc.constantFrom<unknown>(undefined, null, 5, "", "x", [], {}, [null], [[]], true);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), damage, async (path, by) => {
      const agent = agentWith();
      try {
        const read = AgentState.fromJSON(replaced(json, path, by));
        await agent.resume(read, { approve: approvals });
      } catch (error) {
        expect(isOffstageError(error), `${path.join(".")} = ${JSON.stringify(by)}: ${error}`).toBe(true);
      }
      await resumesWell(agent);
    }),
    { numRuns: 150 },
  );
});

test("a state with a step that no JSON was read for does not harm later runs either", async () => {
  const agent = agentWith();
  const { state, approvals } = await agent.run("Go");
  const { step, waiting } = state.pendingStep as PendingStep;
  for (const messages of [[], [undefined], [null, 5], [{}]] as unknown as PendingStep["step"]["messages"][]) {
    const damaged = state.withPendingStep({ step: { ...step, messages }, waiting });
    await agent.resume(damaged, { approve: approvals }).catch(() => undefined);
    await resumesWell(agent);
    expect(() => agent.messages.stats()).not.toThrow();
  }
});
