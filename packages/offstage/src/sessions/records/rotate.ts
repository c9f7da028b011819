// Rotation: encrypts every row of a namespace with the current key. Ends when a pass finds no row under an earlier key.
import type { SessionCells } from "../head/session-cell.ts";
import type { Check, Key, Row, Value, Write } from "../ports/store-driver.ts";
import { type TableName, tables } from "../ports/tables.ts";
import { sessionTables } from "./session-list.ts";

const mostPasses = 1_000;
const rowsPerWrite = 200;

/** Encrypts all rows with the current key, and returns how many were not. A row that cannot be read is reported and left. */
export async function rotate(cells: SessionCells): Promise<number> {
  let count = 0;
  // The versions under which sessions were found to be complete. Only those that changed since then are read again.
  const complete = new Map<string, Value>();
  for (let pass = 0; pass < mostPasses; pass++) {
    const { rotated, isDone, isWhole } = await rotateOnce(cells, complete);
    count += rotated;
    if (!isDone) continue;
    // A row that could not be read may need one of them.
    if (isWhole) await cells.context.rows.forgetEarlierKeys();
    break;
  }
  return count;
}

interface Pass {
  readonly rotated: number;
  /** No row under an earlier key was found. */
  readonly isDone: boolean;
  /** Every row could be read. */
  readonly isWhole: boolean;
}

async function rotateOnce(cells: SessionCells, complete: Map<string, Value>): Promise<Pass> {
  const { rows: access } = cells.context;
  let rotated = 0;
  let isDone = true;
  let isWhole = true;
  const take = async (table: TableName, rows: readonly Row[], check: (row: Row) => Check): Promise<boolean> => {
    const old = rows.filter((row) => !access.isCurrent(table, row));
    const found = await rotateRows(cells, { table, rows: old, check });
    rotated += found.rotated;
    const isComplete = found.rotated === 0 && !found.isChanged;
    isDone &&= isComplete;
    isWhole &&= old.length === found.rotated || found.isChanged;
    return isComplete;
  };
  for (const head of await access.readRaw("sessions", { order: "activity" })) {
    const id = String(head.session_id);
    if (complete.get(id) === head.version) continue;
    // Every change of a session changes its version, so rows that were read under it are current as long as it stays.
    const check = (): Check => ({ table: "sessions", key: [id], where: { version: head.version ?? "" } });
    const found = [await take("sessions", [head], check)];
    for (const table of sessionTables)
      found.push(await take(table, await access.readRaw(table, { prefix: [id] }), check));
    if (!found.includes(false)) complete.set(id, head.version ?? "");
  }
  const isSame =
    (table: TableName, column: string) =>
    (row: Row): Check => ({ table, key: keyOf(table, row), where: { [column]: row[column] ?? null } });
  await take("spans", await access.readRaw("spans", { prefix: [""] }), isSame("spans", "status"));
  await take("memories", await access.readRaw("memories", { order: "all" }), isSame("memories", "created_at"));
  return { rotated, isDone, isWhole };
}

interface Rows {
  readonly table: TableName;
  readonly rows: readonly Row[];
  readonly check: (row: Row) => Check;
}

interface Rotated {
  readonly rotated: number;
  /** Some rows changed since they were read, and are left to the next pass. */
  readonly isChanged: boolean;
}

async function rotateRows(cells: SessionCells, { table, rows, check }: Rows): Promise<Rotated> {
  const { rows: access } = cells.context;
  let rotated = 0;
  let isChanged = false;
  for (let start = 0; start < rows.length; start += rowsPerWrite) {
    const part = rows.slice(start, start + rowsPerWrite).flatMap((stored) => {
      const row = access.open(table, stored);
      return row === undefined ? [] : [{ check: check(stored), write: { table, row } as unknown as Write }];
    });
    const checks = [...new Map(part.map((each) => [JSON.stringify(each.check), each.check])).values()];
    const writes = part.map(({ write }) => write);
    const { refused } = await access.commit({ label: "store.rotate", checks, writes });
    if (refused === undefined) rotated += part.length;
    else isChanged = true;
  }
  return { rotated, isChanged };
}

// The key of a row, without the namespace.
function keyOf(table: TableName, row: Row): Key {
  const { key } = tables[table];
  const [, ...rest] = [...key.scope, ...key.by].map((column) => row[column] as string | number);
  return rest;
}
