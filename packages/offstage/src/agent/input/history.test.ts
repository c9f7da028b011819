import { expect, test } from "vitest";
import { assistant, user } from "../../messages/makers.ts";
import { tokenCounter } from "../../tokens/token-counter.ts";
import { withinTokens } from "./history.ts";

const perMessage = tokenCounter({
  count: () => 0,
  countMessage: () => 10,
  countMessages: (list) => [...list].length * 10,
});
const history = [user("1"), assistant("a"), user("2"), user("2b"), assistant("b"), user("3"), assistant("c")];
const shown = (budget: number | undefined) => withinTokens(history, budget, perMessage).map(({ content }) => content);

test("without a budget everything is shown", () => {
  expect(shown(undefined)).toHaveLength(7);
});

test("as many of the newest whole turns are shown as fit", () => {
  expect(shown(70)).toHaveLength(7);
  expect(shown(50)).toEqual(["2", "2b", "b", "3", "c"]);
  expect(shown(49)).toEqual(["3", "c"]);
});

test("the newest turn is complete even if it exceeds the budget", () => {
  expect(shown(5)).toEqual(["3", "c"]);
  expect(shown(0)).toEqual(["3", "c"]);
});
