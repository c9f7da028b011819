// Lifetimes: what a write keeps alive where sessions expire, so that one goes as a whole and only when it is idle. See scripts.ts.
import { ownerOf } from "../../row-keys.ts";
import type { Write } from "../../store-driver.ts";

export interface Lifetimes {
  /** The session that is written to, as names have it; "" for none. */
  readonly session: string;
  /** Its lists: they live for the whole time again. */
  readonly own: readonly string[];
  /** Lists that something is found by, a run or a trace: they live for as long as the session that put them there. */
  readonly finding: readonly string[];
}

/** What these writes keep alive. A commit writes to one session at most. */
export function lifetimesOf(writes: readonly Write[]): Lifetimes {
  let session = "";
  const own = new Set<string>();
  const finding = new Set<string>();
  for (const { list, value } of writes) {
    const owner = ownerOf(list);
    session ||= owner?.session ?? "";
    if (owner?.session !== undefined || list.startsWith("a/")) for (const each of owner?.lists ?? []) own.add(each);
    else if (owner !== undefined && value !== undefined) finding.add(list);
  }
  return { session, own: [...own], finding: [...finding] };
}
