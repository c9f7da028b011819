// Finds the turn to answer again: the newest, if its run has ended and the client means that one.
import type { Message, UserMessage } from "../messages/message.ts";
import type { PersistentSession } from "../sessions/persistent-session.ts";
import { badRequest, RefusedRequest } from "./protocols/refused-request.ts";
import type { SessionPlace } from "./runs/run-host.ts";

export interface TurnToReplace {
  readonly message: UserMessage;
  /** The run that began the turn; empty if no run did. */
  readonly replaced: string;
}

/** The newest turn. `named` is the id of its answer, or of its message, as the client knows it. */
export async function findTurn({ session, store }: SessionPlace, named: string | undefined): Promise<TurnToReplace> {
  const [working] = await session.runs({ status: "running", limit: 1 });
  if (working !== undefined) throw busy("A run still works on the newest message.");
  const turn = await newestTurn(session);
  const [message] = turn;
  if (message?.role !== "user") throw badRequest("There is no message to answer again.");
  const ids = turn.flatMap(({ metadata }) => [metadata?.runId, metadata?.id]);
  const isKnown = ids.some((id) => id !== undefined);
  if (named !== undefined && isKnown && !ids.includes(named))
    throw badRequest("Only the newest answer can be generated again.");
  const replaced = message.metadata?.runId ?? "";
  const run = replaced === "" ? undefined : await session.run(replaced);
  if (run?.status === "waiting") throw busy("The newest answer waits for a person.");
  // Stopped, because its message is answered again: it must not be resumed.
  if (run?.status === "interrupted") await store.runs.stop(replaced, { reason: "its message is answered again" });
  return { message: { role: "user", content: message.content }, replaced };
}

function busy(sentence: string): RefusedRequest {
  return new RefusedRequest(409, "session-busy", sentence);
}

async function newestTurn(session: PersistentSession): Promise<readonly Message[]> {
  for (let count = 8; ; count *= 2) {
    const items = await session.getItems(count);
    const start = items.findLastIndex(({ role }) => role === "user");
    if (start >= 0) return items.slice(start);
    if (items.length < count) return [];
  }
}
