// Finds the run that posted decisions are about. Only calls that wait in the record count: a client cannot approve anything else.
import type { DecisionLists } from "../agent/ports/approvals.ts";
import type { JsonValue } from "../base/json.ts";
import { isOffstageError } from "../errors.ts";
import type { PersistentSession } from "../sessions/persistent-session.ts";
import type { Approval } from "../sessions/ports/run-record.ts";
import type { FoundRun } from "../sessions/records/run-reader.ts";
import { checkAnswer } from "../tools/ask.ts";
import type { PostedDecision } from "./protocols/protocol.ts";
import { RefusedRequest } from "./protocols/refused-request.ts";
import { toldId } from "./telling/teller.ts";

/** Waiting runs of a session that are looked through. */
const maxWaiting = 50;

export interface DecidedRun {
  readonly run: FoundRun;
  readonly decisions: DecisionLists;
}

/** The waiting run that has the calls, and the decisions about them. The run that the client names comes first. */
export async function findDecided(
  session: PersistentSession,
  posted: readonly PostedDecision[],
  runId: string | undefined,
): Promise<DecidedRun> {
  const listed = await session.runs({ status: "waiting", limit: maxWaiting });
  const ids = listed.map((run) => run.runId);
  const order = runId !== undefined && ids.includes(runId) ? [runId, ...ids.filter((id) => id !== runId)] : ids;
  for (const id of order) {
    const run = await session.run(id);
    const decisions = run === undefined ? undefined : matchDecisions(run, posted);
    if (run === undefined || decisions === undefined) continue;
    for (const approval of run.approvals) await checkAnswered(approval, run, decisions);
    return { run, decisions };
  }
  throw new RefusedRequest(409, "not-waiting", "No call of the session waits for any of these decisions.");
}

// The client is told what is wrong with its answer.
async function checkAnswered(approval: Approval, run: FoundRun, { answers }: DecisionLists): Promise<void> {
  if (approval.kind !== "question") return;
  const { toolCallId, runId } = approval;
  const given = answers.find((each) => each.toolCallId === toolCallId && each.runId === runId);
  if (given === undefined || !("value" in given)) return;
  try {
    await checkAnswer(given.value as JsonValue, approval, idOf(approval, run));
  } catch (error) {
    if (!isOffstageError(error, "invalid-argument")) throw error;
    throw new RefusedRequest(400, error.code, error.message, { isTold: true });
  }
}

// Decisions about calls that no longer wait are left out: a client posts its whole message again. So is a decision of the wrong
// kind: an output for a call that needs approval, or an approval of a question that has no answer.
function matchDecisions(run: FoundRun, posted: readonly PostedDecision[]): DecisionLists | undefined {
  const decisions: DecisionLists = { approve: [], reject: [], answers: [] };
  const { approve, reject, answers } = decisions;
  for (const approval of run.approvals) {
    const decision = posted.find(({ toolCallId }) => toolCallId === idOf(approval, run));
    const call = { toolCallId: approval.toolCallId, runId: approval.runId };
    if (decision === undefined) continue;
    if (approval.kind === "question") {
      if ("answer" in decision) answers.push({ ...call, value: decision.answer });
      else if ("reject" in decision) answers.push({ ...call, declined: true });
    } else if ("approve" in decision) {
      approve.push({ ...call, ...(decision.input !== undefined && { input: decision.input }) });
    } else if ("reject" in decision) {
      reject.push({ ...call, ...(decision.reason !== undefined && { reason: decision.reason }) });
    }
  }
  return approve.length + reject.length + answers.length === 0 ? undefined : decisions;
}

function idOf({ toolCallId, runId }: Approval, run: FoundRun): string {
  return toldId(toolCallId, runId === run.runId ? undefined : { runId });
}
