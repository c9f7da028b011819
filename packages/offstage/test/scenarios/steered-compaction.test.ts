// A run that was steered and compacted still shows its model the question.
import { expect } from "vitest";
import { compactor } from "../../src/doors/memory.ts";
import { Agent, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, glance } from "../support/cast.ts";
import { onStores } from "../support/session-kinds.ts";

const big = tool({ name: "big", execute: () => "x ".repeat(500) });

onStores("compaction keeps the question of a run and what was said while it worked", async ({ play, session }) => {
  const speak = async () => {
    await session.say("And Paris?");
    return calls({ name: "big" });
  };
  const model = scriptedModel(["One.", "Two.", speak, calls({ name: "big" }), "Three.", "Four."]);
  const compaction = compactor({ contextWindow: 900, threshold: 0.7 });
  const agent = new Agent({ model, tools: [big], toolHistory: "none", compaction });
  for (const question of ["First", "Second", "Third", "Fourth"]) await play(agent, question, { session });
  const gap = "user: [6 earlier messages are kept offstage and not shown]";
  const shown = (index: number) => glance(model.requests[index]?.messages ?? []);
  expect(shown(4).slice(0, 4)).toEqual([gap, "user: Third", "user: And Paris?", "assistant: [big]"]);
  expect(shown(5)).toEqual([gap, "user: Third", "user: And Paris?", "assistant: Three.", "user: Fourth"]);
});
