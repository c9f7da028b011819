import { expect, test } from "vitest";
import { sqliteDialect } from "./dialect.ts";
import { readRange, removeRows } from "./row-statements.ts";
import { selectRows } from "./select-rows.ts";

const hostile = "role; DROP TABLE messages";

test("names of columns and orders that a table does not have are refused, since they become part of a statement", () => {
  const selections = [
    { where: [{ column: hostile, in: [1] }] },
    { where: [{ column: "__proto__", contains: "x" }] },
    { where: [], newestBy: hostile },
    { where: [], groups: { by: [hostile], sum: [] } },
    { where: [], groups: { by: [{ day: hostile }], sum: [] } },
    { where: [], groups: { by: [], sum: [hostile] } },
    { where: [], groups: { by: [], sum: [], distinct: hostile } },
    { where: [], groups: { by: [], sum: [], values: hostile } },
  ];
  for (const selection of selections) {
    expect(() => selectRows(sqliteDialect, { table: "messages", ...selection })).toThrow(/has no (column|order)/);
  }
  expect(() => readRange(sqliteDialect, { table: "messages", order: hostile, prefix: [] })).toThrow(/has no order/);
});

test("a key shorter than its scope removes nothing", () => {
  const remove = (count: number) => removeRows(sqliteDialect, "steps", count, () => "?");
  expect(() => remove(0)).toThrow('A key of the table "steps" has 2 to 4 values; found 0.');
  expect(() => remove(1)).toThrow(/found 1/);
  expect(() => remove(5)).toThrow(/found 5/);
  expect(remove(2)).toBe("DELETE FROM steps WHERE steps.namespace = ? AND steps.session_id = ?");
});
