// Detects that the open file was deleted or replaced: SQLite would go on writing to the deleted file.
import { resolve } from "node:path";

import { OffstageError } from "../../../errors.ts";
import type { WriteLabel } from "../../store-driver.ts";
import { nameOf } from "./typed-error.ts";

const { statSync } = process.getBuiltinModule("node:fs");

// How long a check stays valid. Checking before every write would cost more than the write.
const betweenRunsMs = 20;
const withinRunMs = 1_000;

/**
 * Returns a function to call before every write, which throws `store-gone` if the file was deleted or replaced. It checks at most
 * every 20 ms when a run begins or ends or a session changes, and at most once a second for other writes of a run.
 */
export function sameFile(path: string): (label: WriteLabel) => void {
  if (path === ":memory:") return () => {};
  // Absolute, because the working directory may change.
  const place = resolve(path);
  const opened = statSync(place);
  let lookedAt = performance.now();
  return (label) => {
    const now = performance.now();
    if (now - lookedAt < goodForMs(label)) return;
    const found = statSync(place, { throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev) throw gone(path);
    lookedAt = now;
  };
}

function goodForMs(label: WriteLabel): number {
  return label === "run.begin" || label === "run.end" || label.startsWith("session.") ? betweenRunsMs : withinRunMs;
}

function gone(path: string): OffstageError {
  const message = `${nameOf(path)} was deleted or replaced while it was open. Nothing was written. Save its content with store.backup(), then close the store and open it again.`;
  return new OffstageError("store-gone", message);
}
