// Same file: whether a path still leads to the file that is open. SQLite writes on to one that was deleted, where nobody finds it.
import { resolve } from "node:path";

import { OffstageError } from "../../../errors.ts";
import type { WriteLabel } from "../../store-driver.ts";
import { nameOf } from "./typed-error.ts";

const { statSync } = process.getBuiltinModule("node:fs");

// A look takes 2 µs once compiled and 20 before: little beside a run that asks a model, and much beside each of its writes.
const betweenRunsMs = 20;
const withinRunMs = 1_000;

/**
 * Asked before every write; throws `store-gone` where the file was deleted or replaced. Looks where a run begins or ends or a
 * session is changed, but once in 20 ms at most; within a run once a second.
 */
export function sameFile(path: string): (label: WriteLabel) => void {
  if (path === ":memory:") return () => {};
  // The working directory may change.
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

// How long a look is good for.
function goodForMs(label: WriteLabel): number {
  return label === "run.begin" || label === "run.end" || label.startsWith("session.") ? betweenRunsMs : withinRunMs;
}

function gone(path: string): OffstageError {
  const message = `${nameOf(path)} was deleted or replaced while it was open. Nothing was written; save what it held with store.backup(), then close the store and open it again.`;
  return new OffstageError("store-gone", message);
}
