// The items of a turn: what was said and done in order, with subagents inside the calls that started them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message, MessageMetadata } from "../messages/message.ts";
import { MessageQuery } from "./message-query.ts";
import type { RunSummary } from "./run-summary.ts";
import type { TurnItem } from "./turn.ts";

const of = (runId: string, parentRunId?: string, more: Partial<MessageMetadata> = {}) => ({
  metadata: { runId, agent: `agent ${runId}`, ...(parentRunId !== undefined && { parentRunId }), ...more },
});
const calling = (about: { metadata: MessageMetadata }, ...ids: string[]) =>
  assistant(null, { toolCalls: ids.map((id) => toolCall(id, `tool ${id}`)), ...about });
const timelineOf = (list: Message[], runs: RunSummary[] = []) => new MessageQuery(list, { runs }).timeline();

/** Items as short lines, those of subagents indented. */
function outline(items: readonly TurnItem[] = [], indent = ""): string[] {
  return items.flatMap((item) => {
    if (item.type === "subagent")
      return [`${indent}subagent ${item.subagent.runId}`, ...outline(item.subagent.items, `${indent}  `)];
    if (item.type !== "tool") return [`${indent}${item.type} ${item.text}`];
    const { call, subagents = [] } = item;
    const nested = subagents.flatMap((each) => [
      `${indent}  run ${each.runId} ${each.status}`,
      ...outline(each.items, `${indent}    `),
    ]);
    return [`${indent}tool ${call.toolCallId} ${call.resultText}`, ...nested];
  });
}

const parentAndChild = [
  user("q", of("p")),
  assistant("Let me ask.", { toolCalls: [toolCall("1", "a"), toolCall("2", "b")], ...of("p") }),
  user("task", of("c", "p")),
  calling(of("c", "p"), "1"),
  toolResult("1", "inner", of("c", "p")),
  assistant("done", of("c", "p")),
  toolResult("1", "outer", of("p", undefined, { childRunId: "c" })),
  toolResult("2", "two", of("p")),
  assistant("answer", of("p")),
];

describe("the items of a turn", () => {
  test("have text said before or beside calls before them", () => {
    const [turn] = timelineOf([
      system("s"),
      user("q"),
      assistant("First.", { toolCalls: [toolCall("1", "f")] }),
      toolResult("1", "one"),
      system("hurry"),
      assistant("Then.", { toolCalls: [toolCall("2", "f")] }),
      toolResult("2", "two"),
      { role: "critic", content: "hm" } as unknown as Message,
      assistant("Done."),
    ]);
    expect(outline(turn?.items)).toEqual([
      ...["system s", "user q", "text First.", "tool 1 one", "system hurry"],
      ...["text Then.", "tool 2 two", "other hm", "text Done."],
    ]);
    expect(turn).toMatchObject({ assistantContent: "First.\nThen.\nDone.", systemContent: "s\nhurry" });
  });

  test("are rendered in order", () => {
    const [turn] = timelineOf([
      user("q"),
      assistant("First.", { toolCalls: [toolCall("1", "f")] }),
      toolResult("1", "r"),
      assistant("a"),
    ]);
    expect(String(turn)).toBe(
      [
        "Turn 0:",
        "  User: q",
        "  Assistant: First.",
        "  Tools:",
        "    [f] id=1",
        "      arguments: {}",
        "      result: r",
        "  Assistant: a",
      ].join("\n"),
    );
    const printed = new MessageQuery(timelineMessages()).print("timeline", { stream: { write: () => true } });
    expect(printed.indexOf("First.")).toBeLessThan(printed.indexOf("→ r"));
    expect(printed.indexOf("→ r")).toBeLessThan(printed.indexOf("Last."));
  });

  test("have a subagent's run inside the call that started it, never as a turn", () => {
    const turns = timelineOf(parentAndChild);
    expect(turns).toHaveLength(1);
    expect(outline(turns[0]?.items)).toEqual([
      ...["user q", "text Let me ask.", "tool 1 outer"],
      ...["  run c completed", "    user task", "    tool 1 inner", "    text done"],
      ...["tool 2 two", "text answer"],
    ]);
    expect(turns[0]).toMatchObject({ userContent: "q", start: 0, end: 9, runId: "p", status: "completed" });
    expect(turns[0]?.toolInteractions.map(({ resultText }) => resultText)).toEqual(["outer", "two"]);
    expect(String(turns)).toContain("      Subagent agent c:\n        User: task\n        Tools:");
  });

  test("nest subagents of subagents", () => {
    const [turn] = timelineOf([
      user("q", of("a")),
      calling(of("a"), "1"),
      user("b?", of("b", "a")),
      calling(of("b", "a"), "1"),
      user("c?", of("c", "b")),
      assistant("c!", of("c", "b")),
      toolResult("1", "from c", of("b", "a", { childRunId: "c" })),
      assistant("b!", of("b", "a")),
      toolResult("1", "from b", of("a", undefined, { childRunId: "b" })),
      assistant("a!", of("a")),
    ]);
    expect(outline(turn?.items)).toEqual([
      ...["user q", "tool 1 from b", "  run b completed", "    user b?", "    tool 1 from c"],
      ...["      run c completed", "        user c?", "        text c!", "    text b!", "text a!"],
    ]);
  });

  test("have a subagent that is still at work in a call without a result", () => {
    const unfinished = [calling(of("p"), "1", "2"), toolResult("1", "one", of("p")), user("task", of("c", "p"))];
    expect(outline(timelineOf([user("q", of("p")), ...unfinished])[0]?.items)).toEqual([
      ...["user q", "tool 1 one", "tool 2 undefined", "  run c open", "    user task"],
    ]);
    const runs = [{ runId: "c", parentRunId: "p", parentToolCallId: "1", agent: "x", status: "waiting" }];
    expect(outline(timelineOf([user("q", of("p")), ...unfinished], runs)[0]?.items)).toEqual([
      ...["user q", "tool 1 one", "  run c waiting", "    user task", "tool 2 undefined"],
    ]);
  });

  test("have a subagent as an item of its own if its call is unknown", () => {
    const [turn] = timelineOf([user("q", of("p")), user("task", of("c", "p"))]);
    expect(outline(turn?.items)).toEqual(["user q", "subagent c", "  user task"]);
  });

  test("begin a turn for a subagent if its parent is not in the list", () => {
    const turns = new MessageQuery(parentAndChild).where({ subagents: true }).timeline();
    expect(turns).toMatchObject([{ userContent: "task", assistantContent: "done", runId: "c" }]);
  });

  test("of runs that overlap hold their own subagents", () => {
    const turns = timelineOf([
      user("A", of("a")),
      calling(of("a"), "1"),
      user("B", of("b")),
      user("task", of("c", "a")),
      assistant("done", of("c", "a")),
      toolResult("1", "r", of("a", undefined, { childRunId: "c" })),
      assistant("to B", of("b")),
      assistant("to A", of("a")),
    ]);
    expect(turns.map(({ items }) => outline(items))).toEqual([
      ["user A", "tool 1 r", "  run c completed", "    user task", "    text done", "text to A"],
      ["user B", "text to B"],
    ]);
  });

  test("count a subagent's usage in the turn", () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
    const list = parentAndChild.map((message) => ({ ...message, metadata: { ...message.metadata, usage } }));
    expect(timelineOf(list)[0]?.usage?.totalTokens).toBe(27);
  });

  test("are plain data at any depth, and render however deep runs are nested", () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => user("x", of(`${i}`, i === 0 ? undefined : `${i - 1}`)));
    const turns = timelineOf(chain);
    expect(turns).toHaveLength(1);
    expect(String(turns)).toContain("Subagent agent 19999");
    expect(JSON.parse(JSON.stringify(turns))).toEqual(turns);
  });

  test("hold every text of every run exactly once", () => {
    const run = fc.constantFrom(
      { runId: "a" },
      { runId: "b" },
      { runId: "c", parentRunId: "a" },
      { runId: "d", parentRunId: "c" },
    );
    const kind = fc.constantFrom(user, assistant, system);
    fc.assert(
      fc.property(fc.array(fc.tuple(kind, run), { maxLength: 30 }), (made) => {
        const list = made.map(([make, metadata], index) => make(`#${index}`, { metadata }));
        const turns = timelineOf(list);
        const texts = turns.flatMap(({ items }) => outline(items)).flatMap((line) => line.match(/#\d+/g) ?? []);
        expect(texts.sort()).toEqual(list.map(({ content }) => content).sort());
      }),
      { numRuns: 1000 },
    );
  });
});

describe("if the run of a turn is known", () => {
  const failed: RunSummary = {
    runId: "p",
    agent: "boss",
    status: "failed",
    reason: "model-failed",
    error: { code: "model-failed", message: "no light\x1b[2J\nTurn 7:" },
  };

  test("a turn without an answer has its status, reason and error", () => {
    const [turn] = timelineOf([user("q", of("p")), calling(of("p"), "1")], [failed]);
    expect(turn).toMatchObject({ status: "failed", reason: "model-failed", error: failed.error });
    const text = String(turn);
    expect(text).toMatch(/^Turn 0 \(failed: model-failed\):/);
    expect(text).toMatch(/\n {2}Error: no light␛\[2J\n {4}Turn 7:$/);
  });

  test("an answer stays an answer, unless the run failed after it", () => {
    const list = [user("q", of("p")), assistant("a", of("p"))];
    expect(timelineOf(list, [{ ...failed, status: "stopped", reason: "step-limit" }])[0]?.status).toBe("completed");
    expect(timelineOf(list, [failed])[0]).toMatchObject({ status: "failed", assistantContent: "a" });
  });

  test("only the last of its turns ends as it did", () => {
    const turns = timelineOf([user("one", of("p")), user("two", of("p")), user("else", of("x"))], [failed]);
    expect(turns.map(({ status }) => status)).toEqual(["open", "failed", "open"]);
    expect(timelineOf([user("q", of("p"))], [{ ...failed, status: "running" }])[0]?.status).toBe("open");
  });

  test("a subagent has the status and error of its own run", () => {
    const list = parentAndChild.slice(0, 4);
    const [turn] = timelineOf(list, [{ ...failed, runId: "c", parentRunId: "p", parentToolCallId: "2" }]);
    expect(outline(turn?.items).slice(2, 5)).toEqual(["tool 1 undefined", "tool 2 undefined", "  run c failed"]);
    expect(String(turn)).toContain("Subagent agent c (failed: model-failed):");
  });
});

function timelineMessages(): Message[] {
  return [
    user("q"),
    assistant("First.", { toolCalls: [toolCall("1", "f")] }),
    toolResult("1", "r"),
    assistant("Last."),
  ];
}
