// Reads lists, pages and searches while others write, and counts everything that is missing, doubled or out of order.
import type { FoundMessage } from "../../src/sessions/records/search/search.ts";
import type { Store } from "../../src/sessions/store.ts";

/** The runs that writers have acknowledged so far, in any order. */
export type Acknowledged = readonly { readonly session: string; readonly runId: string }[];

export interface Counts {
  lists: number;
  pages: number;
  searches: number;
  /** Runs, sessions and messages that were acknowledged before a read began and that it does not have. */
  missing: number;
  doubled: number;
  unordered: number;
}

export const noCounts: Readonly<Counts> = { lists: 0, pages: 0, searches: 0, missing: 0, doubled: 0, unordered: 0 };

/** Checks a list of ids with the places by which it is ordered, from the highest to the lowest. */
function check(counts: Counts, found: readonly (readonly [string, number])[], expected: readonly string[]): void {
  const ids = new Set(found.map(([id]) => id));
  counts.missing += new Set(expected.filter((id) => !ids.has(id))).size;
  counts.doubled += found.length - ids.size;
  counts.unordered += found.filter(([, place], index) => place >= (found[index - 1]?.[1] ?? Number.MAX_VALUE)).length;
}

/** Lists all sessions and all runs. */
export async function readLists(store: Store, done: Acknowledged, counts: Counts): Promise<void> {
  const before = done.slice();
  const sessions = await store.sessions.list();
  check(
    counts,
    sessions.map(({ sessionId, cursor }) => [sessionId, Number(cursor)]),
    before.map(({ session }) => session),
  );
  const runs = await store.runs.list();
  check(
    counts,
    runs.map(({ runId, cursor }) => [runId, Number(cursor)]),
    before.map(({ runId }) => runId),
  );
  counts.lists += 2;
}

/** Lists all runs page by page. */
export async function readPages(store: Store, done: Acknowledged, counts: Counts): Promise<void> {
  const expected = done.map(({ runId }) => runId);
  const found: [string, number][] = [];
  for (let before: string | undefined; ; ) {
    const page = await store.runs.list({ limit: 50, before });
    found.push(...page.map(({ runId, cursor }): [string, number] => [runId, Number(cursor)]));
    before = page.at(-1)?.cursor;
    counts.pages++;
    if (page.length < 50) break;
  }
  check(counts, found, expected);
}

/** Searches one session page by page, and the whole store for one question. */
export async function readSearches(store: Store, done: Acknowledged, counts: Counts): Promise<void> {
  const chosen = done[Math.floor(Math.random() * done.length)];
  if (chosen === undefined) return;
  const { session, runId } = chosen;
  const expected = done.filter((each) => each.session === session).map((each) => `question ${each.runId}`);
  const found: FoundMessage[] = [];
  for (let before: string | undefined; ; ) {
    const size = found.length;
    const options = { session, role: "user", stream: "said", limit: 20, before } as const;
    for await (const each of store.search(options)) found.push(each);
    before = found.at(-1)?.cursor;
    if (found.length < size + 20) break;
  }
  check(
    counts,
    found.map(({ message, cursor }) => [String(message.content), Number(cursor.split(".")[1])]),
    expected,
  );
  const hits: FoundMessage[] = [];
  for await (const each of store.search({ text: `QUESTION ${runId}`, role: "user", stream: "said" })) hits.push(each);
  const own = hits.filter(({ message }) => message.content === `question ${runId}`);
  if (own[0]?.session.sessionId !== session || own[0].run?.runId !== runId) counts.missing++;
  counts.doubled += Math.max(0, own.length - 1);
  counts.searches += 2;
}
