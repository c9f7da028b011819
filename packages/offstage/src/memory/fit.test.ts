// Fitting and clipping: which messages stay, and in what form.
import { expect, test } from "vitest";
import { buildLoopStep, buildTurn, buildTurns, idsOf } from "../../test/support/long-conversation.ts";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import { textOf, toolCallsOf } from "../messages/message.ts";
import { tokenCounter } from "../tokens/token-counter.ts";
import { clipBlock, clipMessage } from "./clip-message.ts";
import { fitContext, fitNewest } from "./fit.ts";

const counter = tokenCounter({ count: (text) => Math.ceil(text.length / 4) });

test("the newest whole turns are kept", () => {
  const kept = fitNewest(buildTurns(10), { limit: counter.countMessages(buildTurn(0)) * 3 + 5, counter });
  expect(kept).toEqual([7, 8, 9].flatMap((n) => buildTurn(n)));
});

test("if the newest turn does not fit, its question and its newest steps stay", () => {
  const steps = Array.from({ length: 9 }, (_, n) => buildLoopStep(`s${n}`)).flat();
  const kept = fitNewest([...buildTurn(1), user("the task"), ...steps], { limit: 160, counter });
  expect(textOf(kept[0]!)).toBe("the task");
  expect(kept.slice(1)).toEqual(steps.slice(-kept.length + 1));
  expect(kept.length).toBeGreaterThan(3);
});

test("a long question leaves half of the room for the newest step", () => {
  const list = [user("long ".repeat(500)), ...buildLoopStep("s", 15)];
  const kept = fitNewest(list, { limit: 200, counter });
  expect(idsOf(kept)).toEqual(["s.call", "s.result"]);
  expect(kept.slice(1)).toEqual(list.slice(1));
  expect(textOf(kept[0]!)).toMatch(/\[clipped, \d+ characters\]$/);
});

test("several inputs of one run are one turn", () => {
  const input = ["a document", "a question"].map((text) => user(text, { metadata: { runId: "r" } }));
  expect(fitNewest([...buildTurns(3), ...input], { limit: 20, counter })).toEqual(input);
});

test("our own notes do not begin a turn: the question before them stays", () => {
  const note = user("Continue.", { metadata: { isNote: true } });
  const list = [...buildTurns(3), user("the task"), ...buildLoopStep("s"), note];
  expect(fitNewest(list, { limit: 30, counter }).map(textOf)).toEqual(["the task", "Continue."]);
});

test("system messages in the middle belong to the turn that follows", () => {
  const list = [...buildTurns(3), system("from now on in French"), ...buildTurn(3)];
  const kept = fitNewest(list, { limit: counter.countMessages(buildTurn(0)) + 20, counter });
  expect(textOf(kept[0]!)).toBe("from now on in French");
});

test("instructions at the front take at most half of the room", () => {
  const kept = fitContext([system("rule ".repeat(500)), ...buildTurns(3)], { limit: 200, counter });
  expect(counter.countMessage(kept[0]!)).toBeLessThanOrEqual(100);
  expect(kept.slice(-4)).toEqual(buildTurn(2));
});

test("a clipped message is a new object without provider parts", () => {
  const message = assistant("word ".repeat(100), { metadata: { id: "m", providerParts: [{ type: "text" }] } });
  const clipped = clipMessage(message, { limit: 30, counter });
  expect(clipped?.metadata).toEqual({ id: "m", isClipped: true });
  expect(textOf(message)).toHaveLength(500);
});

test("the mark counts parts that are not text", () => {
  const image = { type: "image_url", image_url: { url: "data:," } };
  const message = user([{ type: "text", text: "look at this" }, image]);
  expect(textOf(clipMessage(message, { limit: 20, counter })!)).toMatch(
    /^look at.*\[clipped, \d+ characters and 1 parts\]$/s,
  );
});

test("a surrogate pair is never split", () => {
  for (let limit = 12; limit < 40; limit++) {
    const clipped = clipMessage(user("🙂".repeat(100)), { limit, counter });
    expect(textOf(clipped!)).not.toMatch(/\ud83d(?!\ude42)/);
  }
});

test("of several results the longest is clipped most", () => {
  const calls = ["a", "b"].map((id) => toolCall(id, "search"));
  const block = [assistant(null, { toolCalls: calls }), toolResult("a", "short"), toolResult("b", "long ".repeat(500))];
  const [, first, second] = clipBlock(block, { limit: 80, counter });
  expect(first).toBe(block[1]);
  expect(textOf(second!)).toMatch(/^long [\s\S]*\[clipped/);
});

test("arguments are clipped last, and stay JSON", () => {
  const call = toolCall("a", "write", { text: "long ".repeat(500) });
  const [head, result] = clipBlock([assistant(null, { toolCalls: [call] }), toolResult("a", "ok")], {
    limit: 60,
    counter,
  });
  expect(JSON.parse(toolCallsOf(head!)[0]!.function.arguments)).toEqual({ clipped: "2511 characters" });
  expect(textOf(result!)).toBe("ok");
});
