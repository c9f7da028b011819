// Steering: a run whose session is busy says its input to the run that works, and resolves with the result of that run.
import { poll } from "../base/poll.ts";
import { OffstageError } from "../errors.ts";
import { type Message, textOf } from "../messages/message.ts";
import { busy } from "../sessions/lease/lease.ts";
import type { SessionInbox, Steering } from "../sessions/ports/journal.ts";
import type { RunRecord } from "../sessions/ports/run-record.ts";
import type { Outcome } from "../state/outcome.ts";
import { turnOf } from "../state/turn-of.ts";
import type { AgentConfig } from "./config/agent-config.ts";
import { checkOutput } from "./config/structured-output.ts";
import { setUpStep } from "./input/prompt.ts";
import { finishedRun, totalsOf } from "./lifecycle/conclude.ts";
import { loop, type Open, workingRun } from "./lifecycle/loop.ts";
import { createRun } from "./lifecycle/open-run.ts";
import type { RunResult } from "./ports/run-result.ts";
import { restoreState } from "./resume/restore-state.ts";
import { TrackedMessages } from "./run/recorder.ts";
import type { Run } from "./run/run.ts";

/** Says the messages of a run to the run that works on its session, and resolves as that one does. Runs to the end itself if none works. */
export async function steer(run: Run, open?: Open): Promise<RunResult<unknown>> {
  const { session, journal } = run.request;
  const messages = run.record.input.map(withoutStamp);
  const inbox = journal?.inbox;
  try {
    if (session !== undefined && inbox === undefined) throw noInbox(session.sessionId);
    const sent = messages.length === 0 ? undefined : await inbox?.steer(messages);
    // Looked up now, because that run may have ended when its result is needed.
    const here = journal && sent?.runId && workingRun(journal, sent.runId);
    const taker = sent && (await takerOf(run, sent));
    if (taker === undefined || inbox === undefined) return await loop(run, open);
    discard(run);
    return await (taker === sent?.runId && here ? run.scope.cancellation.race(here) : resultOf(run, taker, inbox));
  } catch (error) {
    discard(run);
    throw error;
  }
}

// The messages get the ids of the run that they join.
function withoutStamp({ metadata, ...message }: Message): Message {
  const { id: _, createdAt: __, runId: ___, agent: ____, ...own } = metadata ?? {};
  return (Object.keys(own).length === 0 ? message : { ...message, metadata: own }) as Message;
}

// The run that took the messages; undefined if this run has to answer them itself.
async function takerOf(run: Run, sent: Steering): Promise<string | undefined> {
  const { cancellation } = run.scope;
  const deadlock = busy(run.request.session?.sessionId ?? "", sent.runId);
  try {
    if (deadlock.isOwn) throw deadlock;
    const joined = await cancellation.race(sent.joined);
    if (joined === "next" && (await sent.withdraw())) return undefined;
    return await sent.takenBy();
  } catch (error) {
    await sent.withdraw();
    throw error;
  }
}

// A run that never starts leaves no open span and no listener.
function discard({ scope }: Run): void {
  scope.cancellation[Symbol.dispose]();
  scope.span.end("cancelled");
}

async function resultOf(run: Run, runId: string, inbox: SessionInbox): Promise<RunResult<unknown>> {
  const readEnd = async (): Promise<RunRecord | undefined> => {
    const record = await inbox.read(runId);
    if (record === undefined || record.status === "interrupted" || record.status === "failed")
      throw failedElsewhere(runId, record);
    return record.status === "running" ? undefined : record;
  };
  const { signal } = run.scope.cancellation;
  return recordedResult(run.agent, await poll(readEnd, { firstMs: 20, longestMs: 250, signal }));
}

/** The result of a run of another process, from its record. */
async function recordedResult(agent: AgentConfig, record: RunRecord): Promise<RunResult<unknown>> {
  const { runId, reason = "" } = record;
  const run = createRun(agent, { input: [], options: { tracing: false }, tracked: new TrackedMessages(0), runId });
  await setUpStep(run, record.steps.length + 1);
  const status = record.status as Outcome["status"];
  const outcome: Outcome = { status, reason, message: `The run ended in another process: ${reason}.` };
  run.record.input = record.input;
  const restored = restoreState(record, [], { agent, setup: run.input.setup });
  const state = restored.withRun({ runId, startedAt: Date.parse(record.startedAt) }).withOutcome(outcome);
  const text = turnOf(state).map(textOf).join("");
  const checked = agent.output && (await checkOutput(agent.output, text, run.scope.cancellation));
  const value = checked && "value" in checked ? checked.value : undefined;
  discard(run);
  const output = agent.output === undefined ? text : value;
  return finishedRun(run, { state, text, output, rest: [], totals: totalsOf(run, state) });
}

function failedElsewhere(runId: string, record: RunRecord | undefined): OffstageError {
  const why = record?.error?.message ?? "its process died, and it has not been resumed yet";
  return new OffstageError("run-failed", `Run "${runId}", which your message joined, did not answer: ${why}`);
}

function noInbox(sessionId: string): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `onBusy: "steer" needs a session on a store; session "${sessionId}" has no inbox. Use onBusy: "queue".`,
  );
}
