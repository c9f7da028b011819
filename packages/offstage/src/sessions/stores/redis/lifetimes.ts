// Computes which lists a write keeps alive, so that an idle session expires as a whole. See scripts.ts.
import { ownerOf } from "../../row-keys.ts";
import type { Write } from "../../store-driver.ts";

export interface Lifetimes {
  /** The session that is written to, as in names of lists; "" for none. */
  readonly session: string;
  /** The lists of the session, which get the full lifetime again. */
  readonly own: readonly string[];
  /** Index lists of runs and traces, which live as long as the session that wrote them. */
  readonly finding: readonly string[];
}

/** The lists that these writes keep alive. A commit writes to at most one session. */
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
