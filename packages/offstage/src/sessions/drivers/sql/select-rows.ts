// Makes the statement for a question over all scopes: the rows that meet conditions, or their numbers by group.
import type { Condition, Grouping, Selection, Value } from "../../ports/store-driver.ts";
import type { ColumnType, TableName } from "../../ports/tables.ts";
import { sparseColumns, tableOf } from "./create-table.ts";
import type { Dialect } from "./dialect.ts";
import { bound, named, orderOf, readColumns, type Statement, typeOf } from "./row-statements.ts";

/** Makes the statement for a selection. */
export function selectRows(dialect: Dialect, selection: Selection): Statement {
  const { table: name, groups, newestBy, limit } = selection;
  const values: unknown[] = [];
  const order = newestBy === undefined || groups !== undefined ? [] : orderOf(name, newestBy).by;
  const conditions = [
    ...selection.where.map((condition) => conditionSql(dialect, name, condition, values)),
    ...sparseColumns(tableOf(name), order).map((column) => `${column} IS NOT NULL`),
  ];
  const keys = groups?.by.map((key) => groupKey(dialect, name, key)) ?? [];
  const answer = groups === undefined ? [readColumns(dialect, name)] : groupColumns(dialect, name, groups, keys);
  const text = [
    `SELECT ${answer.join(", ")} FROM ${dialect.table(name)}`,
    ...(conditions.length === 0 ? [] : [`WHERE ${conditions.join(" AND ")}`]),
    ...(groups === undefined ? [] : [groupBy(keys)]),
    ...(order.length === 0 ? [] : [`ORDER BY ${order.map((column) => `${column} DESC`).join(", ")}`]),
    ...(limit === undefined ? [] : [`LIMIT ${dialect.parameter(values.push(limit), "integer")}`]),
  ];
  return { text: text.join(" "), values };
}

interface GroupKey {
  readonly name: string;
  readonly expression: string;
}

function groupKey(dialect: Dialect, name: TableName, key: Grouping["by"][number]): GroupKey {
  if (typeof key === "string") return { name: key, expression: dialect.toRead(key, typeOf(name, key)) };
  return { name: "day", expression: dialect.toDay(checked(name, key.day)) };
}

function groupColumns(
  dialect: Dialect,
  name: TableName,
  { sum, distinct, values }: Grouping,
  keys: readonly GroupKey[],
): readonly string[] {
  const counted = distinct === undefined ? "*" : `DISTINCT ${dialect.toRead(distinct, typeOf(name, distinct))}`;
  return [
    ...keys.map((key) => named(key.expression, key.name)),
    `count(${counted}) AS count`,
    ...sum.map((column) => `coalesce(sum(${checked(name, column)}), 0) AS ${column}`),
    ...(values === undefined ? [] : [`${dialect.toJsonList(values, typeOf(name, values))} AS "values"`]),
  ];
}

// Without keys all rows are one group; no rows are no group.
function groupBy(keys: readonly GroupKey[]): string {
  return keys.length === 0 ? "HAVING count(*) > 0" : `GROUP BY ${keys.map(({ expression }) => expression).join(", ")}`;
}

function conditionSql(dialect: Dialect, name: TableName, condition: Condition, values: unknown[]): string {
  const { column } = condition;
  const type = typeOf(name, column);
  if ("in" in condition) return oneOf(dialect, name, { column, in: condition.in }, values);
  if ("contains" in condition) return dialect.isLike(column, type, values.push(likePattern(condition.contains, type)));
  const compare = (operator: string, value: string | number | undefined): readonly string[] => {
    if (value === undefined) return [];
    return [
      `${dialect.toCompare(column, type)} ${operator} ${dialect.parameter(values.push(bound(value, type)), type)}`,
    ];
  };
  return [`${column} IS NOT NULL`, ...compare(">=", condition.from), ...compare("<", condition.before)].join(" AND ");
}

function oneOf(
  dialect: Dialect,
  name: TableName,
  condition: { readonly column: string; readonly in: readonly Value[] },
  values: unknown[],
): string {
  const { column } = condition;
  const given = condition.in.filter((value) => value !== null);
  const isNull = `${column} IS NULL`;
  if (given.length === 0) return condition.in.length === 0 ? "1 = 0" : isNull;
  const isGiven = dialect.isOneOf(column, typeOf(name, column), values.push(dialect.toList(given)));
  return given.length === condition.in.length ? isGiven : `(${isGiven} OR ${isNull})`;
}

// Column names become part of a statement, so that an unknown one is refused.
function checked(name: TableName, column: string): string {
  typeOf(name, column);
  return column;
}

// SQLite refuses patterns of more than 50,000 bytes. The beginning of a text finds more, which is allowed.
const maxLength = 1_000;

/**
 * The pattern for a text. Databases ignore the case of ASCII letters, so every other character becomes "anything". "i", "k"
 * and "s" become "any one character": "İ", the Kelvin sign and "ſ" are other forms of them. In JSON, escaped characters become "anything".
 */
export function likePattern(text: string, type: ColumnType): string {
  const isPlain = type === "json" ? /[ !#-[\]-~]/ : /[\0-\x7f]/;
  const pattern = Array.from(text.slice(0, maxLength), (character) => {
    if (!isPlain.test(character)) return "%";
    if (/[iks]/i.test(character)) return "_";
    return /[\\%_]/.test(character) ? `\\${character}` : character;
  });
  return `%${pattern.join("")}%`;
}
