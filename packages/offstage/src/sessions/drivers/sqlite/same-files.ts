// Notices that the files of an open store were deleted or replaced. SQLite would go on writing to the deleted ones.
import { resolve } from "node:path";
import { OffstageError } from "../../../errors.ts";
import type { WriteLabel } from "../../ports/store-driver.ts";
import { nameOf } from "./typed-error.ts";

const { statSync } = process.getBuiltinModule("node:fs");

// How long a check stays valid. Checking before every write would cost as much as the write.
const betweenRunsMs = 20;
const withinRunMs = 1_000;

// The database, its write-ahead log, and the index of the log. The last two exist from the first transaction to the last close.
const suffixes = ["", "-wal", "-shm"];

/**
 * Returns a function to call before every write, which throws `store-gone` if a file was deleted or replaced. It checks the first
 * time, then at most every 20 ms when a run begins or ends or a session changes, and at most once a second for other writes.
 */
export function sameFiles(path: string): (label: WriteLabel | "prepare") => void {
  if (path === ":memory:") return () => {};
  // Absolute, because the working directory may change.
  const place = resolve(path);
  const known = new Map(suffixes.map((suffix) => [suffix, identityOf(place + suffix)]));
  let checkedAt = Number.NEGATIVE_INFINITY;
  return (label) => {
    const now = performance.now();
    if (now - checkedAt < validMs(label)) return;
    for (const suffix of suffixes) {
      const [before, found] = [known.get(suffix), identityOf(place + suffix)];
      // The log of a file that was not in WAL mode appears later.
      if (before === undefined) known.set(suffix, found);
      else if (found !== before) throw gone(path + suffix);
    }
    checkedAt = now;
  };
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}/${found.ino}`;
}

function validMs(label: WriteLabel | "prepare"): number {
  return label === "run.begin" || label === "run.end" || label.startsWith("session.") ? betweenRunsMs : withinRunMs;
}

function gone(path: string): OffstageError {
  const message = `${nameOf(path)} was deleted or replaced while it was open. Nothing was written. Save its content with store.backup(), then close the store and open it again.`;
  return new OffstageError("store-gone", message);
}
