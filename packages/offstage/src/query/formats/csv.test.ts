import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, toolCall, toolResult, user } from "../../messages/makers.ts";
import type { Message } from "../../messages/message.ts";
import { MessageQuery } from "../message-query.ts";

const header = ["index", "role", "content", "tool_name", "tool_call_id", "token_count"];
const rowsOf = (list: Message[], options = {}): string[][] =>
  parse(new MessageQuery(list).export("csv", options), { record_delimiter: "\r\n" });

describe("the csv export", () => {
  test("begins with a header row", () => {
    expect(rowsOf([user("x")])[0]).toEqual(header);
  });

  test("is the header row alone for an empty list", () => {
    expect(new MessageQuery([]).export("csv")).toBe(`${header.join(",")}\r\n`);
  });

  test("has a row for each message, with tool names and call ids", () => {
    const calls = assistant("look", { toolCalls: [toolCall("c1", "f"), toolCall("c2", "g")] });
    const [, ...rows] = rowsOf([user("hi"), calls, toolResult("c1", "r"), assistant(null)]);
    expect(rows.map((row) => row.slice(0, 5))).toEqual([
      ["0", "user", "hi", "", ""],
      ["1", "assistant", "look", "f; g", "c1; c2"],
      ["2", "tool", "r", "f", "c1"],
      ["3", "assistant", "", "", ""],
    ]);
    expect(rows.every((row) => Number(row[5]) > 0)).toBe(true);
  });

  test("cuts content over 500 characters and marks the cut", () => {
    expect(rowsOf([user("x".repeat(501))])[1]?.[2]).toBe(`${"x".repeat(500)}...`);
    expect(rowsOf([user("x".repeat(500))])[1]?.[2]).toBe("x".repeat(500));
    expect(rowsOf([user("abcdef")], { maxContentLength: 3 })[1]?.[2]).toBe("abc...");
    expect(rowsOf([user("abc")], { maxContentLength: 0 })[1]?.[2]).toBe("...");
  });

  test("is whole if the length is infinite", () => {
    expect(rowsOf([user("x".repeat(501))], { maxContentLength: Number.POSITIVE_INFINITY })[1]?.[2]).toHaveLength(501);
  });

  test("cuts between characters, never inside one", () => {
    expect(rowsOf([user("😀".repeat(400))])[1]?.[2]).toBe("😀".repeat(400));
    expect(rowsOf([user("😀".repeat(501))])[1]?.[2]).toBe(`${"😀".repeat(500)}...`);
  });

  test("writes list content as text", () => {
    expect(rowsOf([user([{ type: "text", text: "a, b" }])])[1]?.[2]).toBe("a, b");
  });

  test.for([
    ...["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", " =1", "\u00a0=1", "\ufeff=1", "\u200b=1"],
    ...["＝1+1", "＋1", "－1", "＠x", "﹦1", " ＝1", "\0=1", "=cmd|' /C calc'!A0", '=HYPERLINK("http://x","y")'],
  ])("guards every column against the formula %j", (formula) => {
    const list = [
      { role: formula, content: formula },
      assistant(formula, { toolCalls: [toolCall(formula, formula)] }),
      toolResult(formula, formula, { name: formula }),
    ] as Message[];
    const [, ...rows] = rowsOf(list);
    const cells = rows.flatMap((row) => row.slice(1, 5)).filter((cell) => cell !== "" && !/^[a-z]+$/.test(cell));
    expect(cells.length).toBeGreaterThanOrEqual(8);
    for (const cell of cells) expect(cell).toBe(`'${formula}`);
  });

  test("guards a negative count", () => {
    const odd = new MessageQuery([user("x")], {
      tokenCounter: { count: () => 0, countMessage: () => -5, countMessages: () => -5 },
    });
    expect(odd.export("csv")).toContain(",'-5\r\n");
  });

  test("leaves ordinary text as it is", () => {
    const plain = [
      "a=b",
      "5 - 3",
      "'quoted'",
      "x@y.z",
      "",
      " ",
      "日本",
      "(=)",
      "a; b",
      "a;b=c",
      "one\ntwo",
      "1|2",
      'say "=" twice',
      "no, -5",
    ];
    for (const text of plain) {
      expect(rowsOf([user(text)])[1]?.[2]).toBe(text);
    }
  });

  test.for([
    ...[
      "a;=1",
      "a;b; +1",
      "a\t=1",
      "a\t\t@x",
      "a|=1",
      "a\n=1",
      "a\r\n-1",
      "a\n\n \ufeff=1",
      "a;＝1",
      'a;"=1',
      'a\t ""=1',
    ],
  ])("guards the formula in %j for spreadsheets with another separator", (text) => {
    const [, row] = rowsOf([toolResult(text, text, { name: text })]);
    const guarded = text.replace(/[=+\-@＝]/, "'$&");
    expect(row?.slice(2, 5)).toEqual([guarded, guarded, guarded]);
  });

  test("guards a formula behind a tab at the beginning twice: as a cell, and as the cell behind the tab", () => {
    expect(rowsOf([user("  \t =1")])[1]?.[2]).toBe("'  \t '=1");
  });

  const anyText = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom('"', ",", "\r", "\n", "=", "a", "'", ";", "\t", "|", " ", "-") }),
  );

  test("holds no cell that is a formula, whatever separates cells", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const csv = new MessageQuery([toolResult(text, text, { name: text })]).export("csv");
        for (const separator of [";", "\t", "|"]) {
          const cells = csv.split(/[\r\n]+/).flatMap((line) => line.split(separator));
          // A spreadsheet drops the quotes at the beginning of a cell.
          for (const cell of cells)
            expect(cell).not.toMatch(/^[\s\0\u00ad\u200b-\u200f\u2060\ufeff"]*[=+\-@＝＋－＠﹦﹢﹣﹫]/);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("guards long runs of separators in linear time", () => {
    for (const piece of [";", "\n", '"', " ", ";=", "\t-"]) {
      const start = performance.now();
      new MessageQuery([user(piece.repeat(200_000))]).export("csv", { maxContentLength: Number.POSITIVE_INFINITY });
      expect(performance.now() - start, piece).toBeLessThan(1000);
    }
  });

  test("parses back, guard aside, whatever the content", () => {
    const said = (cell: string): string => cell.replaceAll("'", "");
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, anyText), { maxLength: 8 }), (texts) => {
        const list = texts.map(([content, name]) => toolResult(name, content, { name: `n${name}` }));
        const [first, ...rows] = rowsOf(list, { maxContentLength: 1e6 });
        expect(first).toEqual(header);
        expect(rows).toHaveLength(list.length);
        rows.forEach((row, i) => {
          const [content = "", id = ""] = texts[i] ?? [];
          for (const [cell = "", text] of [
            [row[2], content],
            [row[3], `n${id}`],
            [row[4], id],
          ] as const) {
            if (/[;|\t\r\n]/.test(text)) expect(said(cell)).toBe(said(text));
            else expect([text, `'${text}`]).toContain(cell);
          }
        });
      }),
      { numRuns: 1000 },
    );
  });
});
