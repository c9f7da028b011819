// Chooses the conversation: an unfinished one, or a new one.
import type { PersistentSession, Store } from "offstage";

export interface Beginning {
  readonly session: PersistentSession;
  /** The id of an interrupted run. */
  readonly interrupted: string | undefined;
  /** The questions that were not asked yet. */
  readonly remaining: readonly string[];
  readonly note: string;
}

export async function continueOrBegin(store: Store, questions: readonly string[]): Promise<Beginning> {
  const sessions = await store.sessions.list();
  const [newest] = sessions;
  const begin = (note: string): Beginning => {
    const session = store.session(`demo-${sessions.length + 1}`);
    return { session, interrupted: undefined, remaining: questions, note };
  };
  if (newest === undefined) return begin("a new conversation");
  const session = store.session(newest.sessionId);
  const [run] = await session.runs({ limit: 1 });
  const asked = (await session.getItems()).filter(({ role }) => role === "user").length;
  const remaining = questions.slice(asked);
  if (run?.status === "interrupted")
    return { session, interrupted: run.runId, remaining, note: `run ${run.runId} was interrupted` };
  if (run?.status === "running") return begin("a new conversation, because another process uses the last one");
  if (run?.status === "failed") return begin(`a new conversation; the last one failed: ${run.error?.message}`);
  if (remaining.length === 0) return begin("a new conversation");
  return { session, interrupted: undefined, remaining, note: "an unfinished conversation" };
}
