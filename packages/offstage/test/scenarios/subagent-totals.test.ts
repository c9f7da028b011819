// Totals over a run with subagents are the sums over its parts: statistics, tool summary and exports.
import fc from "fast-check";
import { expect } from "vitest";
import { Agent, type MessageQuery, type RunResult } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { broken, calls, echo, echoing } from "../support/cast.ts";
import { fullOrFifth } from "../support/full-or-fifth.ts";

// A tree of agents: each calls tools and subagents in its steps, in parallel or not, and may fail.
interface Node {
  readonly steps: readonly (readonly (Node | "echo" | "broken")[])[];
  readonly fails: boolean;
}

const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.record({
    steps: fc.array(
      fc.array(
        fc.oneof(
          { depthSize: "small", withCrossShrink: true },
          fc.constantFrom("echo" as const, "broken" as const),
          tie("node"),
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      { maxLength: 3 },
    ),
    fails: fc.boolean(),
  }),
}));

function agentOf({ steps, fails }: Node, name: string): Agent {
  const children: Agent[] = [];
  const script = steps.map((called, at) =>
    calls(
      ...called.map((each, place) => {
        if (each === "echo") return echoing(`${name} ${at} ${place}`);
        if (each === "broken") return { name: "broken" };
        children.push(agentOf(each, `${name}_${children.length}`));
        return { name: `${name}_${children.length - 1}`, input: { prompt: "Do it" } };
      }),
    ),
  );
  const tools = [echo, broken, ...children.map((child) => child.asTool({ maxDepth: 9 }))];
  return new Agent({
    name,
    model: scriptedModel([...script, fails ? new Error("no") : "Done."]),
    tools,
  });
}

bothWays("totals over a run are the sums of its parts, for any tree of subagents", async ({ play }) => {
  await fc.assert(
    fc.asyncProperty(node, async (root) => {
      const result = await play(agentOf(root, "a"), "Go", { tracing: false }).catch(
        (error: { result: RunResult }) => error.result,
      );
      const runs = allRuns(result);
      const parts = runs.map(({ runId }) => result.messages.where({ runId }));
      expect(parts.map((part) => part.all())).toEqual(runs.map(ownOf));
      expectSums(result.messages, parts);
      const own = result.messages.where({ subagents: false });
      expectSums(result.messages, [own, ...result.children.map((child) => child.messages)]);
    }),
    { numRuns: fullOrFifth(50) },
  );
});

function allRuns(result: RunResult<unknown>): RunResult<unknown>[] {
  return [result, ...result.children.flatMap(allRuns)];
}

// What a run knows of itself, without queries.
function ownOf({ messages, steps, runId }: RunResult<unknown>) {
  const [input] = messages.filter({ runId });
  return [input, ...steps.flatMap((step) => step.messages)];
}

function expectSums(whole: MessageQuery, parts: readonly MessageQuery[]): void {
  const all = whole.stats();
  const each = parts.map((part) => part.stats());
  const sum = (numbers: readonly (number | undefined)[]) =>
    numbers.reduce<number>((total, one) => total + (one ?? 0), 0);
  expect(all.totalMessages).toBe(sum(each.map(({ totalMessages }) => totalMessages)));
  expect(all.totalTokens).toBe(sum(each.map(({ totalTokens }) => totalTokens)));
  expect(all.usage?.totalTokens ?? 0).toBe(sum(each.map(({ usage }) => usage?.totalTokens)));
  for (const [role, count] of Object.entries(all.messagesByRole))
    expect(count).toBe(sum(each.map(({ messagesByRole }) => messagesByRole[role])));
  for (const info of whole.toolSummary()) {
    const same = parts.flatMap((part) => part.toolSummary().filter(({ toolName }) => toolName === info.toolName));
    expect(info.callCount).toBe(sum(same.map(({ callCount }) => callCount)));
    expect(info.errorCount).toBe(sum(same.map(({ errorCount }) => errorCount)));
    expect(new Set(info.calls)).toEqual(new Set(same.flatMap(({ calls: made }) => made)));
    expect(info.orphans).toEqual([]);
  }
  const lines = (query: MessageQuery) =>
    query
      .export("jsonl")
      .split("\n")
      .filter((line) => line !== "");
  expect(lines(whole).sort()).toEqual(parts.flatMap(lines).sort());
}
