// Strategies that fail, and how summaries are made.
import { describe, expect, test, vi } from "vitest";
import { buildTurn, buildTurns, flat } from "../../../test/support/long-conversation.ts";
import { textOf } from "../../messages/message.ts";
import { AgentState } from "../../state/agent-state.ts";
import { tokenCounter } from "../../tokens/token-counter.ts";
import type { Compaction, CompactionOptions } from "./compaction.ts";
import { type CompactorOptions, compactor } from "./compactor.ts";
import { summarizeOlder } from "./strategies/index.ts";

const counter = tokenCounter({ count: (text) => Math.ceil(text.length / 4) });

function openOn(options: CompactorOptions, opening: Partial<CompactionOptions> = {}): Compaction {
  return compactor({ threshold: 1000, ...options }).open({ counter, ...opening });
}

const stateOf = (turns: number): AgentState => AgentState.empty().withMessages(buildTurns(turns));

describe("a strategy that fails", () => {
  const failures: Record<string, CompactorOptions["strategy"]> = {
    "a summariser that rejects": summarizeOlder({ summarize: () => Promise.reject(new Error("no summary today")) }),
    "a summariser that returns blank text": summarizeOlder({ summarize: () => "  " }),
    "no summariser": summarizeOlder(),
    "a function that throws": () => {
      throw new Error("broken");
    },
    "a function that loses the question": ({ summary, messages }) => ({ summary, messages: messages.slice(-1) }),
    "a function that returns text": () => "shorter" as never,
    "a function that returns lists of texts": () => ({ summary: ["s"], messages: ["m"] }) as never,
    "a function that empties the list it was given": ({ messages }) => {
      (messages as unknown[]).length = 0;
      return { summary: [], messages };
    },
  };

  test.for(Object.entries(failures))("falls back to the sliding window and is reported: %s", async ([, strategy]) => {
    const onError = vi.fn();
    const view = await openOn({ strategy: strategy!, onError }).view(stateOf(40));
    expect(onError).toHaveBeenCalledOnce();
    expect(view.compacted?.error).toBeTypeOf("string");
    expect(flat(view).slice(-4)).toEqual(buildTurn(39));
    expect(counter.countMessages(flat(view))).toBeLessThanOrEqual(500);
  });

  test("keeps the previous summary", async () => {
    let isBroken = false;
    const summarize = () => (isBroken ? Promise.reject(new Error("no")) : "They agreed on blue.");
    const compaction = openOn({ strategy: summarizeOlder({ summarize }), onError: () => {} });
    await compaction.view(stateOf(40));
    isBroken = true;
    const view = await compaction.view(stateOf(80));
    expect(view.sections[0]!.toArray().map(textOf).join()).toContain("They agreed on blue.");
  });

  test("is not an abort, which rejects with its reason", async () => {
    const controller = new AbortController();
    const summarize = () => {
      controller.abort(new Error("enough"));
      return Promise.reject(new Error("aborted"));
    };
    const compaction = openOn({ strategy: summarizeOlder({ summarize }) }, { signal: controller.signal });
    await expect(compaction.view(stateOf(40))).rejects.toThrow("enough");
  });

  test("a result over its budget is cut to the newest messages", async () => {
    const view = await openOn({ strategy: ({ summary, messages }) => ({ summary, messages }) }).view(stateOf(40));
    expect(counter.countMessages(flat(view))).toBeLessThanOrEqual(500);
    expect(flat(view).slice(-4)).toEqual(buildTurn(39));
  });
});

describe("summaries", () => {
  test("grow: each is made from the previous one and the new messages", async () => {
    const summarize = vi.fn(({ messages, previous }) => `${previous ?? "start"} +${messages.length}`);
    const compaction = openOn({ strategy: summarizeOlder({ summarize }) });
    await compaction.view(stateOf(40));
    const view = await compaction.view(stateOf(80));
    expect(summarize).toHaveBeenCalledTimes(2);
    expect(summarize.mock.calls[1]?.[0].previous).toMatch(/^start \+\d+$/);
    const [summaries, , messages] = view.sections;
    expect(textOf(summaries!.at(0)!)).toMatch(/^\[Summary of \d+ earlier messages[^\]]*\]\n\nstart \+\d+ \+\d+$/);
    expect(summaries!.at(0)?.metadata?.covers).toBe(320 - messages!.length);
  });

  test("report the tokens they took, and come from the agent's own model by default", async () => {
    const usage = { modelId: "m", usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 } };
    const compaction = openOn({ strategy: summarizeOlder() }, { summarize: () => ({ text: "They talked.", usage }) });
    expect((await compaction.view(stateOf(40))).compacted?.usage).toEqual([usage]);
  });
});
