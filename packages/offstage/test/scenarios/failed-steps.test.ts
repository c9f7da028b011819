// If a criterion, a processor or a guardrail throws, the step that was finished before is in `error.result`, once.
import { describe, expect } from "vitest";
import { Agent, type AgentOptions, memoryStore, type Processor, sqliteStore } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";

const boom = (): never => {
  throw new Error("broken");
};
const throwsAfter: Processor = async (state, next) => {
  await next(state);
  return boom();
};
const returnsOther: Processor = async (state, next) => {
  await next(state);
  return state;
};
const broken: Readonly<Record<string, Partial<AgentOptions>>> = {
  "a criterion throws": { stopWhen: boom },
  "a processor throws after the step": { processors: [throwsAfter] },
  "a processor returns another state": { processors: [returnsOther] },
};

const scripts: Readonly<Record<string, { script: ScriptEntry[]; seen: string[] }>> = {
  "with tool calls": { script: [calls(echoing("a"))], seen: ["user: Go", "assistant: [echo]", "tool: echo a"] },
  "with an answer": { script: ["Hi."], seen: ["user: Go", "assistant: Hi."] },
};

describe("a finished step", () => {
  for (const [what, options] of Object.entries(broken)) {
    for (const [kind, { script, seen }] of Object.entries(scripts)) {
      for (const separateToolTrace of [false, true]) {
        const mode = separateToolTrace ? "separated" : "together";
        bothWays(`${kind} is kept if ${what} (${mode})`, async ({ fail, events }) => {
          const store = memoryStore();
          const agent = new Agent({ model: scriptedModel(script), tools: [echo], separateToolTrace, ...options });
          const { result } = await fail(agent, "Go", { session: store.session("s") });
          expect(result.steps).toHaveLength(1);
          expect(result.outcome.status).toBe("failed");
          expect(glance(result.messages.all())).toEqual(seen);
          expect(glance(agent.getMessages())).toEqual(seen);
          expect(result.text).toBe(kind === "with an answer" ? "Hi." : "");
          expect(result.usage).toEqual(result.steps[0]?.usage);
          expect((await store.runs.get(result.runId))?.steps).toHaveLength(1);
          expect(glance(await store.session("s").getItems())).toEqual(["user: Go"]);
          const ends = events.filter(({ type }) => type === "step-end").length;
          if (events.length > 0) expect(ends).toBe(1);
        });
      }
    }
  }

  bothWays("before it is kept too, and the run can be resumed", async ({ fail }) => {
    const store = sqliteStore({ path: ":memory:" });
    let isBroken = true;
    const stopWhen: AgentOptions["stopWhen"] = ({ stepCount }) => (isBroken && stepCount === 2 ? boom() : undefined);
    const model = scriptedModel([calls(echoing("a")), calls(echoing("b")), "Done."]);
    const agent = new Agent({ model, tools: [echo], stopWhen });
    const { result } = await fail(agent, "Go", { session: store.session("s") });
    expect(result.steps.map(({ index }) => index)).toEqual([1, 2]);
    isBroken = false;
    const resumed = await agent.resume(result.runId, { store });
    expect(glance(resumed.messages.all())).toEqual([
      "user: Go",
      "assistant: [echo]",
      "tool: echo a",
      "assistant: [echo]",
      "tool: echo b",
      "assistant: Done.",
    ]);
    await store.close();
  });
});
