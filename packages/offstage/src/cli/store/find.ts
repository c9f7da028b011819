// Finds sessions and runs by what a person types: a whole id, an unambiguous beginning, or "last".
import type { SessionInfo } from "../../doors/sessions.ts";
import { type Store, storeOptions, storeSource } from "../../sessions/store.ts";

/** Nothing was found, or more than one thing: exit code 1. */
export class NotFound extends Error {
  override readonly name: string = "NotFound";
  /** True if several things begin with what was typed. */
  readonly isAmbiguous: boolean;

  constructor(message: string, { isAmbiguous = false }: { readonly isAmbiguous?: boolean } = {}) {
    super(message);
    this.isAmbiguous = isAmbiguous;
  }
}

/** The session that a text means. */
export async function findSession(store: Store, text: string): Promise<SessionInfo> {
  const exact = await store.sessions.get(text).catch(() => undefined);
  if (exact !== undefined) return exact;
  if (text === "last") {
    const [latest] = await store.sessions.list({ limit: 1 });
    if (latest !== undefined) return latest;
    throw new NotFound("There are no sessions yet.");
  }
  const listed = text === "" ? [] : await store.sessions.list({ text });
  const found = listed.filter(({ sessionId }) => sessionId.startsWith(text));
  const [only, ...others] = found;
  if (only === undefined) throw new NotFound(`There is no session "${text}". offstage sessions lists them.`);
  if (others.length > 0)
    throw ambiguous(
      "sessions",
      text,
      found.map(({ sessionId }) => sessionId),
    );
  return only;
}

/** The id of the run that a text means. A session means its latest run. */
export async function findRunId(store: Store, text: string): Promise<string> {
  if (text !== "last" && text !== "") {
    const found = await runIdsFrom(store, text);
    if (found.includes(text) || found.length === 1) return found.includes(text) ? text : (found[0] as string);
    if (found.length > 1) throw ambiguous("runs", text, found);
  }
  const sessionId = text === "last" ? undefined : (await sessionOrNone(store, text))?.sessionId;
  if (text !== "last" && sessionId === undefined)
    throw new NotFound(`There is no run "${text}". offstage runs lists them.`);
  const [latest] = await store.runs.list({ limit: 1, ...(sessionId !== undefined && { sessionId }) });
  if (latest !== undefined) return latest.runId;
  throw new NotFound(sessionId === undefined ? "There are no runs yet." : `The session "${text}" has no runs.`);
}

/** Whether a text means a session or a run. Sessions come first. */
export async function findEither(
  store: Store,
  text: string,
): Promise<{ readonly session: SessionInfo; readonly runId?: undefined } | { readonly runId: string }> {
  const session = await sessionOrNone(store, text);
  if (session !== undefined) return { session };
  return { runId: await findRunId(store, text) };
}

async function sessionOrNone(store: Store, text: string): Promise<SessionInfo | undefined> {
  try {
    return await findSession(store, text);
  } catch (error) {
    if (error instanceof NotFound && !error.isAmbiguous) return undefined;
    throw error;
  }
}

// Ids that begin with a text. The back end finds them by its index, if it can.
async function runIdsFrom(store: Store, text: string): Promise<string[]> {
  const driver = await store[storeSource].load();
  const namespace = store[storeOptions].namespace ?? "";
  const where = [
    { column: "namespace", in: [namespace] },
    { column: "run_id", from: text, before: `${text}\u{10ffff}` },
  ];
  const rows = await driver.select?.({ table: "runs", where, limit: 20 });
  if (rows !== undefined) return rows.map(({ run_id }) => String(run_id)).filter((id) => id.startsWith(text));
  const runs = await store.runs.list({ subagents: true });
  return runs.map(({ runId }) => runId).filter((id) => id.startsWith(text));
}

function ambiguous(what: string, text: string, ids: readonly string[]): NotFound {
  const shown = ids.slice(0, 5).join(", ");
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : "";
  const message = `${ids.length} ${what} begin with "${text}": ${shown}${more}. Type more of the id.`;
  return new NotFound(message, { isAmbiguous: true });
}
