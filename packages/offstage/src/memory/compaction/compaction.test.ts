// Compaction of states: the view, the report, and that nothing stored changes.
import { describe, expect, test, vi } from "vitest";
import {
  appended,
  buildLoopStep,
  buildTurn,
  buildTurns,
  flat,
  idsOf,
} from "../../../test/support/long-conversation.ts";
import { providerViolations } from "../../../test/support/provider-violations.ts";
import { system, user } from "../../messages/makers.ts";
import { textOf } from "../../messages/message.ts";
import { AgentState } from "../../state/agent-state.ts";
import { tokenCounter } from "../../tokens/token-counter.ts";
import type { Compaction, CompactionOptions, ModelView } from "./compaction.ts";
import { type CompactorOptions, compactor } from "./compactor.ts";
import { pruneToolResults, slidingWindow, summarizeOlder } from "./strategies/index.ts";

const counter = tokenCounter({ count: (text) => Math.ceil(text.length / 4) });
const buffer = AgentState.EXECUTION_BUFFER_SECTION;

function openOn(options: CompactorOptions = {}, opening: Partial<CompactionOptions> = {}): Compaction {
  return compactor({ threshold: 1000, ...options }).open({ counter, ...opening });
}

const stateOf = (turns: number): AgentState => AgentState.empty().withMessages(buildTurns(turns));

describe("below the limit", () => {
  test("the view is the state's own sections", async () => {
    const state = stateOf(5);
    const compaction = openOn();
    expect(compaction.exceedsLimit(state)).toBe(false);
    const view = await compaction.view(state);
    expect(view.sections).toHaveLength(4);
    for (const [i, section] of state.sectionsForInference().entries()) expect(view.sections[i]).toBe(section);
    expect(view.compacted).toBeUndefined();
  });

  test("a view costs only what was added", async () => {
    const countMessage = vi.fn(counter.countMessage);
    const countMessages = (list: Iterable<Parameters<typeof countMessage>[0]>) =>
      [...list].reduce((sum, message) => sum + countMessage(message), 0);
    const compaction = openOn({ threshold: 10_000_000 }, { counter: { ...counter, countMessage, countMessages } });
    let state = stateOf(500);
    await compaction.view(state);
    countMessage.mockClear();
    for (let n = 0; n < 100; n++) {
      state = appended(state, buildTurn(1000 + n));
      await compaction.view(state);
    }
    expect(countMessage).toHaveBeenCalledTimes(400);
  });

  test("a compaction that left nothing out has no note", async () => {
    const compaction = openOn();
    await compaction.view(stateOf(2));
    expect(compaction.note).toBeUndefined();
  });
});

describe("past the limit", () => {
  test("the view is within the target, the state is unchanged, and a message counts what is missing", async () => {
    const state = stateOf(40);
    const before = JSON.stringify(state);
    const view = await openOn().view(state);
    expect(counter.countMessages(flat(view))).toBeLessThanOrEqual(500);
    expect(JSON.stringify(state)).toBe(before);
    expect(textOf(flat(view)[0]!)).toMatch(/^\[\d+ earlier messages are kept offstage and not shown\]$/);
    expect(view.compacted).toMatchObject({
      strategy: "slidingWindow",
      tokensBefore: counter.countMessages(state.messages),
    });
    expect(view.compacted?.tokensAfter).toBe(counter.countMessages(flat(view)));
  });

  test("covered and shown messages together are all messages, each once", async () => {
    const compaction = openOn();
    const covered: string[] = [];
    let state = AgentState.empty();
    let view: ModelView | undefined;
    for (let n = 0; n < 100; n++) {
      state = appended(state, buildTurn(n));
      view = await compaction.view(state);
      covered.push(...(view.compacted?.covered ?? []));
    }
    expect([...covered, ...idsOf(flat(view!))]).toEqual(idsOf(state.messages));
  });

  test("between two compactions the beginning of the input stays identical, byte for byte", async () => {
    const compaction = openOn();
    let state = AgentState.empty();
    let before = "";
    let compactions = 0;
    for (let n = 0; n < 100; n++) {
      state = appended(state, buildTurn(n));
      const view = await compaction.view(state);
      const text = JSON.stringify(flat(view)).slice(0, -1);
      if (view.compacted === undefined) expect(text.startsWith(before)).toBe(true);
      else compactions++;
      before = text;
    }
    expect(compactions).toBeGreaterThan(3);
    expect(compactions).toBeLessThan(20);
  });

  test("sections that only grew extend their earlier lists", async () => {
    const compaction = openOn();
    const state = stateOf(40);
    const first = await compaction.view(state);
    const second = await compaction.view(appended(state, buildTurn(40)));
    const [summary, buffer, messages] = first.sections;
    expect(second.sections[0]).toBe(summary);
    expect(second.sections[1]).toBe(buffer);
    expect(second.sections[2]?.extends(messages!)).toBe(true);
  });

  test("fixed tokens count, and the user's own sections stay", async () => {
    const state = stateOf(40)
      .withSection("summary", [user("my summary")])
      .withSection("buffer", [user("my buffer")]);
    const compaction = openOn({}, { fixedTokens: 600 });
    const view = await compaction.view(state);
    expect(compaction.tokens).toBeLessThanOrEqual(1000);
    expect(flat(view).map(textOf)).toEqual(expect.arrayContaining(["my summary", "my buffer"]));
  });

  test("system messages at the front of a conversation stay at the front", async () => {
    const state = AgentState.empty().withMessages([system("be brief"), ...buildTurns(40)]);
    const view = await openOn({ strategy: summarizeOlder({ summarize: () => "They talked." }) }).view(state);
    expect(
      flat(view)
        .map(({ role }) => role)
        .slice(0, 2),
    ).toEqual(["system", "user"]);
    expect(textOf(flat(view)[0]!)).toBe("be brief");
  });
});

describe("in a long tool loop", () => {
  test.for([AgentState.DEFAULT_SECTION, buffer])("the question stays and every view is valid (%s)", async (section) => {
    const compaction = openOn({ strategy: pruneToolResults() });
    let state = AgentState.empty().withMessages([...buildTurns(3), user("the task", { metadata: { id: "task" } })]);
    for (let n = 0; n < 100; n++) {
      state = appended(state, buildLoopStep(`step${n}`), section);
      const view = await compaction.view(state);
      const shown = flat(view);
      expect(counter.countMessages(shown)).toBeLessThanOrEqual(1000);
      expect(providerViolations(shown)).toEqual([]);
      expect(idsOf(shown)).toContain("task");
      expect(shown.slice(-2)).toEqual(buildLoopStep(`step${n}`));
    }
    expect(state.section(section).length).toBeGreaterThanOrEqual(200);
  });

  test("the question stays before its tool trace", async () => {
    const state = appended(stateOf(2).withUserMessage("the task"), manySteps(60), buffer);
    const shown = flat(await openOn().view(state)).map(textOf);
    const place = shown.indexOf("the task");
    expect(shown.findIndex((text) => text.startsWith("result step"))).toBeGreaterThan(place);
    expect(shown.slice(place + 1)).toContainEqual(expect.stringMatching(/earlier messages are kept offstage/));
  });

  test("a fresh result that fits beside the question is shown whole, whatever else must go", async () => {
    const big = buildLoopStep("big", 600);
    const view = await openOn().view(appended(stateOf(10).withUserMessage("the task"), big, buffer));
    expect(flat(view).slice(-2)).toEqual(big);
  });

  test("a result larger than the limit is clipped and marked", async () => {
    const view = await openOn().view(
      appended(stateOf(1).withUserMessage("the task"), buildLoopStep("huge", 9_000), buffer),
    );
    const shown = flat(view);
    expect(counter.countMessages(shown)).toBeLessThanOrEqual(1000);
    expect(textOf(shown.at(-1)!)).toMatch(/^result huge: word[\s\S]*\[clipped, \d+ characters\]$/);
    expect(shown.map(textOf)).toContain("the task");
  });

  test("the next run shows the conversation without the tool trace of the last run", async () => {
    const compaction = openOn();
    const state = appended(stateOf(30).withUserMessage("the task"), manySteps(40), buffer);
    await compaction.view(state);
    const view = await compaction.view(state.withUserMessage("the next task"));
    expect(flat(view).map(textOf).join()).not.toContain("result step");
    expect(flat(view).map(textOf).slice(-2)).toEqual(["the task", "the next task"]);
    expect(view.compacted).toBeUndefined();
  });
});

const manySteps = (count: number) => Array.from({ length: count }, (_, n) => buildLoopStep(`step${n}`)).flat();

describe("a note", () => {
  const through = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

  test("shows the same view after a restart, including the tool trace", async () => {
    const before = openOn({ strategy: pruneToolResults() });
    const state = appended(stateOf(30).withUserMessage("the task"), manySteps(40), buffer);
    const view = await before.view(state);
    const after = openOn({ strategy: pruneToolResults() }, { note: through(before.note) });
    const again = await after.view(AgentState.fromJSON(through(state)));
    expect(flat(again)).toEqual(flat(view));
    expect(again.compacted).toBeUndefined();
  });

  test("works for a history that begins after the covered messages", async () => {
    const before = openOn({ strategy: summarizeOlder({ summarize: () => "They talked." }) });
    await before.view(stateOf(40));
    const latest = AgentState.empty().withMessages(buildTurns(42).slice(-8));
    const after = openOn({}, { note: through(before.note), isPartial: true });
    const shown = flat(await after.view(latest));
    expect(textOf(shown[0]!)).toContain("They talked.");
    expect(shown.slice(1)).toEqual(latest.messages.toArray());
  });

  test("finds its place among messages with equal content and no ids", async () => {
    const before = openOn();
    const state = AgentState.empty().withMessages(Array.from({ length: 300 }, () => user("the same again and again")));
    const view = await before.view(state);
    const after = openOn({}, { note: through(before.note) });
    expect(flat(await after.view(state))).toEqual(flat(view));
  });

  test("works for the history of a session, which has no tool trace", async () => {
    const before = openOn({ strategy: summarizeOlder({ summarize: () => "They talked." }) });
    const asked = user("the task", { metadata: { id: "task" } });
    const state = AgentState.empty().withMessages([...buildTurns(20), asked, ...manySteps(60)]);
    await before.view(state);
    const isSaid = ({ role, tool_calls: calls }: { role: string; tool_calls?: unknown }) => role !== "tool" && !calls;
    const clean = [...state.messages.filter((message) => isSaid(message)), ...buildTurn(99)];
    const shown = flat(await openOn({}, { note: through(before.note) }).view(AgentState.empty().withMessages(clean)));
    expect(textOf(shown[0]!)).toContain("They talked.");
    expect(shown.slice(-4)).toEqual(buildTurn(99));
    expect(new Set(idsOf(shown)).size).toBe(idsOf(shown).length);
    expect(idsOf(shown)).not.toContain("0.question");
  });

  test("of another conversation is not shown", async () => {
    const before = openOn({ strategy: summarizeOlder({ summarize: () => "A secret." }) });
    await before.view(stateOf(40));
    const after = openOn({}, { note: through(before.note) });
    const other = AgentState.empty().withMessages([user("hello")]);
    expect(flat(await after.view(other))).toEqual([user("hello")]);
  });

  test.for([42, {}, { version: 2 }, { version: 1, conversation: { from: 1, last: "x", summary: 3 } }])(
    "that cannot be read is reported, and the compaction starts again: %j",
    async (note) => {
      const onError = vi.fn();
      const view = await openOn({ onError }, { note }).view(stateOf(3));
      expect(onError).toHaveBeenCalledOnce();
      expect(flat(view)).toEqual(buildTurns(3));
    },
  );
});

describe("outside the loop", () => {
  test("a conversation that is rewritten is shown as rewritten", async () => {
    const compaction = openOn();
    await compaction.view(stateOf(40));
    const rewritten = AgentState.empty().withMessages([user("all new")]);
    expect(flat(await compaction.view(rewritten))).toEqual([user("all new")]);
  });

  test("the messages of a memory are shown instead of the conversation, and new ones follow", async () => {
    const compaction = openOn();
    const state = AgentState.empty().withMessages([system("be brief"), ...buildTurns(10)]);
    const given = [system("be brief"), ...buildTurn(2), ...state.messages.slice(-4)];
    compaction.show(state, given);
    expect(flat(await compaction.view(state))).toEqual(given);
    const grown = appended(state, buildTurn(10));
    expect(flat(await compaction.view(grown))).toEqual([...given, ...buildTurn(10)]);
  });

  test("options that do not fit are refused", () => {
    expect(() => compactor({})).toThrow(/contextWindow/);
    expect(() => compactor({ threshold: 0 })).toThrow(/threshold/);
    expect(() => compactor({ threshold: 100, target: 1 })).toThrow(/target/);
    expect(() => compactor({ threshold: 100, strategy: {} as never })).toThrow(/strategy/);
    expect(compactor({ contextWindow: 16_000 }).limit).toBe(12_800);
    expect(compactor({ threshold: 0.5, contextWindow: 16_000, strategy: slidingWindow() }).limit).toBe(8_000);
  });
});
