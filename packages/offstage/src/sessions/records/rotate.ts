// Rotation: encrypts every row of a namespace with the current key. Ends when a pass finds no row under an earlier key.
import type { NamespaceRows } from "../head/namespace-rows.ts";
import type { SessionCells } from "../head/session-cell.ts";
import type { Check, Row, Value, Write } from "../ports/store-driver.ts";
import type { TableName } from "../ports/tables.ts";
import { sessionTables } from "./prune.ts";

const mostPasses = 1_000;
const rowsPerWrite = 200;

/** Encrypts all rows with the current key, and returns how many were not. A row that cannot be read is reported and left. */
export async function rotate({ context: { rows: access } }: SessionCells): Promise<number> {
  let count = 0;
  // The versions under which sessions were found to be complete. Only those that changed since then are read again.
  const complete = new Map<string, Value>();
  for (let pass = 0; pass < mostPasses; pass++) {
    let isDone = true;
    // Every row could be read.
    let isWhole = true;
    for await (const part of partsOf(access, complete)) {
      const { old, rotated, isChanged } = await rotatePart(access, part);
      count += rotated;
      isWhole &&= rotated === old || isChanged;
      if (rotated > 0 || isChanged) isDone = false;
      else if (part.session !== undefined) complete.set(part.session.id, part.session.version);
    }
    if (!isDone) continue;
    // A row that could not be read may need one of them.
    if (isWhole) await access.forgetEarlierKeys();
    break;
  }
  return count;
}

/** Rows that are rotated together. */
interface Part {
  readonly session?: { readonly id: string; readonly version: Value };
  readonly rows: readonly PlacedRow[];
  /** Refuses a write if the row may have changed since it was read. */
  checkOf(row: Row): Check;
}

interface PlacedRow {
  readonly table: TableName;
  readonly row: Row;
}

// All rows of a namespace, except for sessions that are complete: each session, and the rows that belong to none.
async function* partsOf(access: NamespaceRows, complete: ReadonlyMap<string, Value>): AsyncGenerator<Part, void> {
  const placed = (table: TableName, rows: readonly Row[]): PlacedRow[] => rows.map((row) => ({ table, row }));
  for (const head of await access.readRaw("sessions", { order: "activity" })) {
    const session = { id: String(head.session_id), version: head.version ?? "" };
    if (complete.get(session.id) === session.version) continue;
    const rows = placed("sessions", [head]);
    for (const table of sessionTables)
      rows.push(...placed(table, await access.readRaw(table, { prefix: [session.id] })));
    // Every change of a session changes its version, so rows that were read under it are current as long as it stays.
    const check: Check = { table: "sessions", key: [session.id], where: { version: session.version } };
    yield { session, rows, checkOf: () => check };
  }
  yield {
    rows: placed("spans", await access.readRaw("spans", { prefix: [""] })),
    checkOf: ({ run_id, start_ms, span_id, status = null }) => ({
      table: "spans",
      key: ["", String(run_id), Number(start_ms), String(span_id)],
      where: { status },
    }),
  };
  yield {
    rows: placed("memories", await access.readRaw("memories", { order: "all" })),
    checkOf: ({ memory_id, seq, created_at = null }) => ({
      table: "memories",
      key: [String(memory_id), Number(seq)],
      where: { created_at },
    }),
  };
}

interface Rotated {
  /** The number of rows that were not encrypted with the current key, and of those that are now. */
  readonly old: number;
  readonly rotated: number;
  /** Some rows changed since they were read, and are left to the next pass. */
  readonly isChanged: boolean;
}

async function rotatePart(access: NamespaceRows, { rows, checkOf }: Part): Promise<Rotated> {
  const old = rows.filter(({ table, row }) => !access.isCurrent(table, row));
  let rotated = 0;
  let isChanged = false;
  for (let start = 0; start < old.length; start += rowsPerWrite) {
    const part = old.slice(start, start + rowsPerWrite).flatMap(({ table, row: stored }) => {
      const row = access.open(table, stored);
      return row === undefined ? [] : [{ check: checkOf(stored), write: { table, row } as Write }];
    });
    const checks = [...new Set(part.map(({ check }) => check))];
    const writes = part.map(({ write }) => write);
    const { refused } = await access.commit({ label: "store.rotate", checks, writes });
    if (refused === undefined) rotated += part.length;
    else isChanged = true;
  }
  return { old: old.length, rotated, isChanged };
}
