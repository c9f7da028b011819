// The head of a session: its row in the table "sessions". Every change of a session changes its head, and names itself there.
import type { SessionRow } from "../ports/tables.ts";

/** The length of the writer's token at the start of an operation id. */
export const writerLength = 8;
// Enough for about fifteen writers. One operation per writer is enough because each requests one change at a time.
const versionLength = 200;

/** The head of a session that does not exist yet. */
export function newHead(namespace: string, sessionId: string): SessionRow {
  const now = new Date().toISOString();
  return {
    namespace,
    session_id: sessionId,
    title: null,
    metadata: null,
    created_at: now,
    updated_at: now,
    message_count: 0,
    run_count: 0,
    last_agent: null,
    last_status: null,
    branched_from: null,
    branched_at: null,
    activity: 0,
    next_seq: 1,
    next_position: 1,
    next_run: 1,
    version: "",
    fence: 0,
    lease_run: null,
    lease_holder: null,
    lease_seen: null,
    waiting_holder: null,
    waiting_seen: null,
    exact: null,
  };
}

/** True if the session exists: its head was written. */
export function exists({ version }: SessionRow): boolean {
  return version !== "";
}

/** Adds an operation to the version, in place of the previous one of the same writer. */
export function withOperation(head: SessionRow, operation: string): SessionRow {
  const others = withoutWriter(head.version, operation.slice(0, writerLength));
  return { ...head, version: `${others} ${operation}`.slice(-versionLength) };
}

function withoutWriter(version: string, writer: string): string {
  const start = version.indexOf(` ${writer}`);
  if (start < 0) return version;
  const end = version.indexOf(" ", start + 1);
  return end < 0 ? version.slice(0, start) : version.slice(0, start) + version.slice(end);
}

/** True if the operation is among the latest. */
export function hasOperation(head: SessionRow | undefined, operation: string): boolean {
  return head?.version.endsWith(` ${operation}`) || head?.version.includes(` ${operation} `) || false;
}

/**
 * True if every operation since `before` must still be in `now`: either none was ever dropped, or an older one is still there.
 * The oldest are dropped first. A full version stays full, because the operation ids of a writer never get shorter.
 */
export function remembersSince(now: SessionRow | undefined, before: SessionRow | undefined): boolean {
  if (now === undefined || now.version.length < versionLength) return true;
  return before?.version.split(" ").some((operation) => operation !== "" && hasOperation(now, operation)) ?? false;
}
