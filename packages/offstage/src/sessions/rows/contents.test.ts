// References to the messages of a model input.
import { expect, test } from "vitest";
import { formatInput, parseInput } from "./contents.ts";

const said = (seq: number, position: number) => ({ seq, position });
const done = (seq: number) => ({ seq, position: null });

test("messages of the conversation that follow each other are one range of positions", () => {
  const messages = ["9c", said(1, 1), said(4, 2), said(5, 3), said(8, 4)];
  expect(formatInput("3f", messages)).toBe("3f #9c,p1-4");
});

test("whole turns with their tools are one range of rows", () => {
  const messages = ["9c", said(1, 1), done(2), done(3), said(4, 2), said(5, 3), done(6), "9c", done(8)];
  expect(formatInput("3f", messages)).toBe("3f #9c,m1-6,#9c,m8");
});

test("a reference is parsed to every row and content that it names", () => {
  expect(parseInput("3f #9c,p1-3,m7")).toEqual({ setup: "3f", messages: ["#9c", "p1", "p2", "p3", "m7"] });
  expect(parseInput(formatInput("3f", undefined))).toEqual({ setup: "3f" });
});
