// How a run ends: whether its end is refused, and how its answer is told from the messages of its last step.
import { type Message, withMetadata } from "../../messages/message.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import { isAskedToStop } from "../lease/lease.ts";
import type { EndRefusal, RunEnd } from "../ports/journal.ts";
import type { SessionRow } from "../ports/tables.ts";
import { identityOf } from "../rows/message-row.ts";

/**
 * Refuses an end. A run that was asked to stop does not end in another way, because `stop` has returned true; an abort
 * or a failure is an end too. A run does not answer before it has seen what was said meanwhile.
 */
export function refusalOf(
  head: SessionRow,
  { status, reason, leavesInbox }: RunEnd,
): Change<EndRefusal | undefined> | undefined {
  const isAlreadyCut = status === "failed" || reason === "stop-requested" || reason === "aborted";
  if (isAskedToStop(head) && !isAlreadyCut) return { result: "stop" };
  return status === "completed" && head.inbox_count > 0 && !leavesInbox ? { result: "inbox" } : undefined;
}

/** The sum of the known costs. Undefined if none is known; without steps nothing was spent. */
export function sumOf(costs: readonly (number | undefined)[]): number | undefined {
  const known = costs.filter((cost) => cost !== undefined);
  return known.length === 0 && costs.length > 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0);
}

/** True if a message of the answer is also one of the last step: they are one object, or have the same id and calls. */
export function isSame(answer: Message, message: Message): boolean {
  const identity = identityOf(answer);
  return answer === message || (identity !== undefined && identity === identityOf(message));
}

/** The messages that the conversation does not have yet, each once: a message has one row, and its row has one position. */
export function withoutSaid(answer: readonly Message[], known: ReadonlySet<string> = new Set()): readonly Message[] {
  const said = new Set(known);
  return answer.filter((message) => {
    const identity = identityOf(message);
    if (identity === undefined) return true;
    const isNew = !said.has(identity);
    said.add(identity);
    return isNew;
  });
}

/** Two copies of a message have one row. */
export function copyRef({ refs }: SessionCell, from: Message, to: Message): void {
  const ref = refs.get(from);
  if (ref !== undefined) refs.set(to, ref);
}

/** The answer as it joins the conversation, with the provider's parts of its reply, which only the record of the run has. */
export function withProviderParts(answer: Message, { metadata }: Message): Message {
  const providerParts = metadata?.providerParts;
  return providerParts === undefined ? answer : withMetadata(answer, { providerParts });
}
