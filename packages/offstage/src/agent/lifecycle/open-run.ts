// Opens a run: makes its first state from input, instructions and history. The input is durable before the first model call.
import { OffstageError } from "../../errors.ts";
import { textOf } from "../../messages/message.ts";
import { journalFor } from "../../sessions/journal/plain-journal.ts";
import type { RunLog, RunStart } from "../../sessions/ports/journal.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import { announceCut, historyToLoad, loadHistory } from "../input/history.ts";
import { openPrompt } from "../input/prompt.ts";
import { setUpStep } from "../input/set-up-step.ts";
import { blockedOutcome, guard } from "../run/guard.ts";
import type { Run } from "../run/run.ts";
import { joinAtStart } from "./join-inbox.ts";

/** Returns the state for the first step. Blocked input does not join the conversation. */
export async function openRun(run: Run): Promise<AgentState> {
  const { identity, record, request, scope } = run;
  const { parent } = identity;
  record.emit({ type: "run-start", ...(parent && { parentRunId: parent.identity.runId }), input: record.input });
  scope.cancellation.throwIfAborted();
  const ownBlocked = await blockedInput(run);
  await setUpStep(run, run.state.stepCount + 1);
  record.track(record.input);
  const inbox = joinAtStart(run);
  const log = await openLog(run, ownBlocked === undefined ? { join: inbox.join } : { isBlocked: true });
  const blocked = ownBlocked ?? inbox.blocked();
  if (blocked === undefined && log !== undefined && log.joined.length > 0) {
    record.joined(log.joined, 0);
    record.input = [...log.joined, ...record.input];
  }
  record.announce(record.input.filter(({ metadata }) => metadata?.isJoined !== true));
  const loaded = log && (await loadHistory(run, log));
  announceCut(run);
  const history = loaded === undefined || request.hasOwnState ? run.state.messages : loaded;
  if (blocked !== undefined) return run.state.withMessages(history).withOutcome(blocked);
  const state = run.state.withMessages(history.append(record.input));
  if (record.input.length === 0 && hasNothing(state)) throw nothingToAnswer(run.agent.name);
  await openPrompt(run, state);
  return state;
}

async function blockedInput(run: Run): Promise<Outcome | undefined> {
  const { input } = run.record;
  const subject = { text: input.map(textOf).join("\n"), messages: input };
  return blockedOutcome(await guard(run, "input", { subject }));
}

/** Opens the journal of a run that has a session or a journaled parent. Makes the input and the record of the run durable. */
export async function openLog(run: Run, opening: Opening = {}): Promise<RunLog | undefined> {
  const { identity, request, record } = run;
  const parentLog = identity.parent?.record.log;
  const { session } = request;
  if (session === undefined && parentLog === undefined) return undefined;
  const start = runStart(run, opening);
  return record.open(async () =>
    session === undefined ? (parentLog as RunLog).child(start) : journalFor(session).open(start),
  );
}

interface Opening extends Pick<RunStart, "join"> {
  /** A guardrail blocked the input. */
  readonly isBlocked?: boolean;
}

function runStart(run: Run, { isBlocked = false, join }: Opening): RunStart {
  const { identity, agent, request, scope, record } = run;
  const { parent, parentToolCallId } = identity;
  const { model } = run.input.setup;
  return {
    runId: identity.runId,
    isFresh: request.options.runId === undefined,
    refusesKnown: true,
    agent: agent.name,
    model: model.modelId,
    provider: model.provider,
    startedAt: identity.startedAt,
    input: isBlocked ? [] : record.input,
    ...historyToLoad(run),
    onBusy: request.options.onBusy === "reject" ? "reject" : "queue",
    ...(join && { join }),
    signal: scope.cancellation.signal,
    ...(parent !== undefined && { parentRunId: parent.identity.runId }),
    ...(parentToolCallId !== undefined && { parentToolCallId }),
    ...(scope.span.recording && { traceId: scope.span.traceId }),
  };
}

function hasNothing(state: AgentState): boolean {
  return state.sectionsForInference().every((section) => section.isEmpty);
}

function nothingToAnswer(agent: string): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `Agent "${agent}" has nothing to answer: no message was passed and the conversation is empty. Pass at least one user message.`,
  );
}
