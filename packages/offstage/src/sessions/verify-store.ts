// Checks the invariants of a whole namespace, for tests and operators. Changes nothing.
import { toolCallsOf } from "../messages/message.ts";
import { activityKey } from "./activity.ts";
import type { RunRecord } from "./journal.ts";
import { keyNumber } from "./row-keys.ts";
import { listRuns, readRecord } from "./run-list.ts";
import type { SessionCells } from "./session-cell.ts";
import { sessionCells } from "./session-cell.ts";
import { listHeads, type SessionInfo } from "./session-list.ts";
import { readLooseSpans, readLooseTraces } from "./span-rows.ts";

/** A violated invariant. */
export interface Violation {
  readonly sessionId?: string;
  readonly runId?: string;
  readonly problem: string;
}

type Listed = Pick<SessionInfo, "sessionId" | "cursor">;

/** All violated invariants of a namespace. */
export async function verifyStore(open: SessionCells): Promise<Violation[]> {
  const found: Violation[] = [];
  const cells = sessionCells({ ...open.context, report: (error) => found.push({ problem: error.message }) });
  for (const { head, cursor } of await listHeads(cells))
    found.push(...(await checkSession(cells, { sessionId: head.id, cursor })));
  for (const traceId of await readLooseTraces(cells.context)) await readLooseSpans(cells.context, traceId);
  const ofRuns = new Map<string, Violation[]>();
  for (const { runId } of await listRuns(cells)) {
    const problems = await checkRun(cells, runId);
    if (problems.length > 0) ofRuns.set(runId, problems);
  }
  return ofRuns.size === 0 ? found : [...found, ...(await stillListed(open, ofRuns))];
}

// Drops problems of runs that were deleted meanwhile. Silent, because unreadable rows were reported before.
async function stillListed(open: SessionCells, problems: ReadonlyMap<string, Violation[]>): Promise<Violation[]> {
  const silent = sessionCells({ ...open.context, report: () => {} });
  return (await listRuns(silent)).flatMap(({ runId }) => problems.get(runId) ?? []);
}

// Enough for a session that several processes write to continuously.
const mostLooks = 100;

// A session that changes while it is read is checked again.
async function checkSession(cells: SessionCells, info: Listed): Promise<Violation[]> {
  for (let look = 0; look < mostLooks; look++) {
    const problems = await lookAt(cells, info);
    if (problems !== undefined) return problems.map((problem) => ({ sessionId: info.sessionId, problem }));
  }
  return [{ sessionId: info.sessionId, problem: "changed during every check; verify again when it is idle" }];
}

/** The problems of a session; undefined if it changed while it was read. */
async function lookAt(cells: SessionCells, { sessionId, cursor }: Listed): Promise<string[] | undefined> {
  const cell = cells.of(sessionId);
  const { driver, lists } = cells.context;
  const head = await cell.head();
  const rows = await driver.read(cell.lists.messages);
  const [listed] = await driver.get([{ list: lists.activity, key: cursor }]);
  if ((await cell.head())?.active !== head?.active) return undefined;
  if (head === undefined) return [];
  const problems: string[] = [];
  if (rows.length !== head.count) problems.push(`should have ${head.count} messages and has ${rows.length}`);
  if (rows.some(({ key }) => keyNumber(key) >= head.next)) problems.push("has a message past its end");
  if (listed !== undefined && activityKey(head) !== cursor) problems.push("is listed at a wrong position");
  return problems;
}

async function checkRun(cells: SessionCells, runId: string): Promise<Violation[]> {
  const run = await readRecord(cells, runId);
  if (run === undefined) return [{ runId, problem: "is listed but has no row" }];
  const problems = [...stepProblems(run), ...endProblems(run)];
  const beneath = await Promise.all(run.children.map((child) => checkRun(cells, child.runId)));
  return [...problems.map((problem) => ({ sessionId: run.sessionId, runId, problem })), ...beneath.flat()];
}

function stepProblems({ steps, openStep }: RunRecord): string[] {
  const problems = steps.flatMap(({ step, messages }, index) => {
    const results = new Set(messages.flatMap((message) => (message.role === "tool" ? message.tool_call_id : [])));
    const calls = messages.flatMap((message) => toolCallsOf(message).map(({ id }) => id));
    const unanswered = calls.filter((id) => !results.has(id));
    return [
      ...(step === index + 1 ? [] : [`has step ${step} at position ${index + 1}`]),
      ...(unanswered.length === 0 ? [] : [`has unanswered calls in step ${step}: ${unanswered.join(", ")}`]),
    ];
  });
  if (openStep !== undefined && openStep.step <= steps.length)
    problems.push(`has an open step ${openStep.step} before its last step`);
  return problems;
}

function endProblems({ status, endedAt, openStep }: RunRecord): string[] {
  const isOver = status !== "running" && status !== "interrupted";
  if (isOver && endedAt === undefined) return ["has ended but has no end time"];
  return status === "completed" && openStep !== undefined ? ["is completed but has an open step"] : [];
}
