// Same file: whether a path still leads to the file that is open. SQLite writes on to one that was deleted, where nobody finds it.
import { resolve } from "node:path";
import { OffstageError } from "../../../errors.ts";
import type { WriteLabel } from "../../store-driver.ts";
import { nameOf } from "./typed-error.ts";

const { statSync } = process.getBuiltinModule("node:fs");

// A look takes 2 µs once compiled and 20 before: little beside the run it opens, and much beside each of its writes.
const withinRunMs = 1_000;
const atEndMs = 20;

/**
 * Asked before every write; throws `store-gone` where the file was deleted or replaced. Looks where a run begins or a session
 * is changed, within a run once a second, and at its end unless it began just now.
 */
export function sameFile(path: string): (label: WriteLabel) => void {
  if (path === ":memory:") return () => {};
  // The working directory may change.
  const place = resolve(path);
  const opened = statSync(place);
  let lookedAt = Date.now();
  return (label) => {
    const now = Date.now();
    const rest = restMs(label);
    if (rest > 0 && now - lookedAt < rest) return;
    lookedAt = now;
    const found = statSync(place, { throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev) throw gone(path);
  };
}

// How long a look is good for.
function restMs(label: WriteLabel): number {
  if (label === "run.end") return atEndMs;
  return label === "run.begin" || label.startsWith("session.") ? 0 : withinRunMs;
}

function gone(path: string): OffstageError {
  const message = `${nameOf(path)} was deleted or replaced while it was open. Nothing was written; save what it held with store.backup(), then close the store and open it again.`;
  return new OffstageError("store-gone", message);
}
