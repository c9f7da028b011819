// Reads and writes rows through one connection, with statements that are prepared once.
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type {
  Check,
  Commit,
  Committed,
  Key,
  Put,
  Row,
  RowPlace,
  RowRange,
  Selection,
  Value,
  Write,
} from "../../ports/store-driver.ts";
import type { TableName } from "../../ports/tables.ts";
import { tableOf } from "../sql/create-table.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import { getRow, hasRow, putRows, rangeReader, removeRows } from "../sql/row-statements.ts";
import { booleansOf, selectRows } from "../sql/select-rows.ts";

export interface Rows {
  get(places: readonly RowPlace[]): (Row | undefined)[];
  read(range: RowRange): Row[];
  select(selection: Selection): Row[];
  commit(commit: Commit): Committed;
}

const nextNumber =
  "INSERT INTO counter (id, value) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET value = value + 1 RETURNING value";

export function rowsOf(database: DatabaseSync): Rows {
  const readRange = rangeReader(sqliteDialect);
  const prepared = new Map<string, StatementSync>();
  const prepare = (text: string): StatementSync => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = database.prepare(text);
      prepared.set(text, statement);
    }
    return statement;
  };
  const tables = new Map<TableName, TableStatements>();
  const at = (name: TableName): TableStatements => {
    let statements = tables.get(name);
    if (statements === undefined) {
      statements = tableStatements(database, name);
      tables.set(name, statements);
    }
    return statements;
  };

  const getOne = ({ table, key }: RowPlace): Row | undefined => at(table).get(key);
  const isMet = ({ table, key, where }: Check): boolean => {
    return where === undefined ? getOne({ table, key }) === undefined : at(table).has(key, where);
  };
  const issueNumber = (writes: readonly Write[]): number | undefined => {
    if (!writes.some((write) => "row" in write && write.numbered !== undefined)) return undefined;
    return Number(prepare(nextNumber).get()?.value);
  };

  return {
    get: (places) => {
      if (places.length < 2) return places.map(getOne);
      prepare("BEGIN").run();
      try {
        return places.map(getOne);
      } finally {
        prepare("COMMIT").run();
      }
    },
    read: (range) => {
      const { text, values } = readRange(range);
      return rowsFrom(prepare(text).all(...(values as SQLInputValue[])), at(range.table).booleans);
    },
    select: (selection) => {
      const { text, values } = selectRows(sqliteDialect, selection);
      const found = database.prepare(text).all(...values.map((value) => toSql(value as Value)));
      return rowsFrom(found, booleansOf(selection));
    },
    commit: ({ checks, writes }) => {
      prepare("BEGIN IMMEDIATE").run();
      try {
        if (!checks.every(isMet)) {
          const refused = checks.map(getOne);
          prepare("ROLLBACK").run();
          return { refused };
        }
        const number = issueNumber(writes);
        for (const write of writes) if ("remove" in write) at(write.table).remove(write.remove);
        for (const write of writes) if ("row" in write) at(write.table).put(write, number);
        prepare("COMMIT").run();
        return { number };
      } catch (error) {
        if (database.isTransaction) prepare("ROLLBACK").run();
        throw error;
      }
    },
  };
}

interface TableStatements {
  readonly booleans: readonly string[];
  get(key: Key): Row | undefined;
  /** True if the row with this key has these values. */
  has(key: Key, where: Row): boolean;
  put(put: Put, number: number | undefined): void;
  remove(prefix: Key): void;
}

function tableStatements(database: DatabaseSync, name: TableName): TableStatements {
  const columns = Object.keys(tableOf(name).columns);
  const booleans = columns.filter((column) => tableOf(name).columns[column]?.type === "boolean");
  const get = database.prepare(getRow(sqliteDialect, name, () => "?"));
  const put = database.prepare(putRows(sqliteDialect, name, `VALUES (${columns.map(() => "?").join(", ")})`));
  const removes: StatementSync[] = [];
  const checks = new Map<string, StatementSync>();
  return {
    booleans,
    get: (key) => {
      const found = get.get(...key);
      return found && rowFrom(found, booleans);
    },
    has: (key, where) => {
      const given = Object.keys(where);
      const text = given.join();
      const check =
        checks.get(text) ?? database.prepare(hasRow(sqliteDialect, name, { keyValue: () => "?", where: given }));
      checks.set(text, check);
      return check.get(...key, ...Object.values(where).map(toSql)) !== undefined;
    },
    put: ({ row, numbered }, number) => {
      const values: SQLInputValue[] = [];
      for (const column of columns) {
        const value = column === numbered ? number : row[column];
        values.push(typeof value === "boolean" ? Number(value) : (value ?? null));
      }
      put.run(...values);
    },
    remove: (prefix) => {
      removes[prefix.length] ??= database.prepare(removeRows(sqliteDialect, name, prefix.length, () => "?"));
      removes[prefix.length]?.run(...prefix);
    },
  };
}

function toSql(value: Value | undefined): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : (value ?? null);
}

function rowsFrom(found: readonly object[], booleans: readonly string[]): Row[] {
  return found.map((row) => rowFrom(row, booleans));
}

// A damaged value is returned as it is.
function rowFrom(found: object, booleans: readonly string[]): Row {
  const row = { ...found } as Record<string, Value>;
  for (const column of booleans) if (row[column] === 0 || row[column] === 1) row[column] = row[column] === 1;
  return row;
}
