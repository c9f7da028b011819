import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message, MessageMetadata } from "../messages/message.ts";
import { MessageQuery } from "./message-query.ts";

const of = (runId: string, more: Partial<MessageMetadata> = {}) => ({ metadata: { runId, ...more } });
const timelineOf = (...messages: Message[]) => new MessageQuery(messages).timeline();
const said = (...messages: Message[]) =>
  timelineOf(...messages).map(
    ({ userContent, assistantContent, status }) => `${userContent} > ${assistantContent} (${status})`,
  );

describe("if runs overlap", () => {
  test("each answer joins the turn of its run", () => {
    const asked = [user("A", of("a")), user("B", of("b"))];
    const [toA, toB] = [assistant("to A", of("a")), assistant("to B", of("b"))];
    const both = ["A > to A (completed)", "B > to B (completed)"];
    expect(said(...asked, toA, toB)).toEqual(both);
    expect(said(...asked, toB, toA)).toEqual(both);
  });

  test("the tools of a run join its turn, whatever comes between", () => {
    const [a, b] = timelineOf(
      user("A", of("a")),
      assistant(null, { toolCalls: [toolCall("1", "f")], ...of("a") }),
      user("B", of("b")),
      assistant("to B", of("b")),
      toolResult("1", "found", of("a")),
      assistant("more", { toolCalls: [toolCall("2", "g")], ...of("a") }),
      toolResult("2", "found too", of("a")),
      toolResult("9", "lost", of("a")),
      assistant("to A", of("a", { interrupted: true })),
    );
    expect(a).toMatchObject({ status: "interrupted", assistantContent: "more\nto A" });
    expect(a?.toolInteractions.map(({ toolCallId, result }) => `${toolCallId} ${result}`)).toEqual([
      "1 found",
      "2 found too",
      "9 lost",
    ]);
    expect(b).toMatchObject({ status: "completed", assistantContent: "to B", toolInteractions: [] });
  });

  test("a turn reaches from its first message to its last, with its own time and usage", () => {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const at = (runId: string, second: number) => of(runId, { createdAt: `2026-01-01T00:00:0${second}.000Z`, usage });
    const turns = timelineOf(
      user("A", at("a", 0)),
      user("B", at("b", 1)),
      assistant("to B", at("b", 3)),
      assistant("to A", at("a", 5)),
    );
    expect(turns.map(({ start, end, durationMs }) => [start, end, durationMs])).toEqual([
      [0, 4, 5000],
      [1, 3, 2000],
    ]);
    expect(turns.map((turn) => turn.usage?.totalTokens)).toEqual([4, 4]);
  });

  test("messages without a run id stay in order", () => {
    expect(said(user("A", of("a")), user("B"), assistant("to A", of("a")), assistant("to B"))).toEqual([
      "A > to A (completed)",
      "B > to B (completed)",
    ]);
    expect(said(user("A"), user("B"), assistant("one"), assistant("two"))).toEqual([
      "A > undefined (open)",
      "B > one (completed)",
      "undefined > two (completed)",
    ]);
  });

  test("an answer to a run of several questions joins the last of them", () => {
    const asked = [user("A1", of("a")), user("A2", of("a")), user("B", of("b"))];
    expect(said(...asked, assistant("to B", of("b")), assistant("to A", of("a")))).toEqual([
      "A1 > undefined (open)",
      "A2 > to A (completed)",
      "B > to B (completed)",
    ]);
  });

  test("a message after the answer of a run is a turn of its own", () => {
    const asked = [user("A", of("a")), user("B", of("b")), assistant("to A", of("a")), assistant("to B", of("b"))];
    expect(said(...asked, assistant("more", of("a")))).toEqual([
      "A > to A (completed)",
      "B > to B (completed)",
      "undefined > more (completed)",
    ]);
  });

  test("a system message stays with the turn that follows it", () => {
    const turns = timelineOf(user("A", of("a")), user("B", of("b")), system("s"), assistant("to A", of("a")));
    expect(turns.map(({ systemContent, start, end }) => [systemContent, start, end])).toEqual([
      [undefined, 0, 4],
      [undefined, 1, 2],
      ["s", 2, 3],
    ]);
  });

  test("every text is in exactly one turn", () => {
    const metadata = fc.constantFrom({}, { runId: "a" }, { runId: "b" }, { runId: "c" });
    const kind = fc.constantFrom(user, assistant, system);
    const messages = fc
      .array(fc.tuple(kind, metadata), { maxLength: 30 })
      .map((made) => made.map(([make, about], index) => make(`#${index}`, { metadata: about })));
    fc.assert(
      fc.property(messages, (list) => {
        const turns = timelineOf(...list);
        const found = turns.flatMap(({ systemContent, userContent, assistantContent }) =>
          [systemContent, userContent, assistantContent].flatMap((text) => text?.split("\n") ?? []),
        );
        expect(found.sort()).toEqual(list.map(({ content }) => content).sort());
        for (const { start, end } of turns) expect(start).toBeLessThan(end);
      }),
      { numRuns: 1000 },
    );
  });
});
