// Branching: a new session that starts with a copy of part of another, in one atomic write.
import { touched } from "./activity.ts";
import { readLatest } from "./conversation.ts";
import type { SessionCell } from "./session-cell.ts";
import { existsAlready } from "./session-errors.ts";

/** Creates `target`, which must not exist yet, with the first `at` messages of `source`. */
export async function branch(source: SessionCell, target: SessionCell, at?: number): Promise<void> {
  const messages = (await readLatest(source)).slice(0, at).map(({ message }) => message);
  const appended = messages.map((message) => ({ message, text: JSON.stringify(message) }));
  await target.update("session.branch", async (head) => {
    if (head.active > 0) throw existsAlready(target.id);
    const counts = { next: appended.length, count: appended.length };
    return { result: undefined, appended, ...touched(target, head, counts) };
  });
}
