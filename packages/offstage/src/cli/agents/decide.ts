// Decides about a call that waits, and continues its run: what approve, reject and answer have in common.
import type { FoundRun } from "../../doors/sessions.ts";
import { isOffstageError } from "../../errors.ts";
import type { Approval, ResumeOptions, RunResult } from "../../index.ts";
import type { Store } from "../../sessions/store.ts";
import { UsageError } from "../arguments.ts";
import { RunPrinter } from "../chat/run-printer.ts";
import type { ExitCode } from "../command.ts";
import type { Io } from "../io.ts";
import { errorWords } from "../output/words.ts";
import { findRunId, NotFound } from "../store/find.ts";
import { readContext } from "./context.ts";
import { agentNamed, loadAgents } from "./load-agent.ts";

/** The keys of the objects that these commands print. */
export const decisionKeys: readonly string[] = ["runId", "sessionId", "status", "reason", "text", "waiting"];

export interface Deciding {
  /** The run and the call, as the person typed them. The call may be left out if only one waits. */
  readonly run: string;
  readonly call: string | undefined;
  readonly agent: string | undefined;
  /** The context of the run, as JSON. */
  readonly context: string | undefined;
  readonly kind: Approval["kind"];
  /** The options of `resume()` for the call. */
  decisionOn(approval: Approval): Pick<ResumeOptions, "approve" | "reject" | "answers">;
}

/** Continues a run with a decision, and prints it while it happens. */
export async function decide(io: Io, deciding: Deciding): Promise<ExitCode> {
  const { run, call, agent: path, kind, decisionOn } = deciding;
  if (path === undefined)
    throw new UsageError("The run is continued by its agent: pass the module that has it, with --agent ./agent.ts.");
  const context = readContext(deciding.context);
  const store = await io.openStore({ writes: true });
  const found = await outermost(store, await waitingRunId(store, run, kind));
  const approval = chosen(found, call, kind);
  const agent = agentNamed(await loadAgents(io, path), found.agent, path);
  const stream = agent.resumeStream(found.runId, { store, context, ...decisionOn(approval), signal: io.world.signal });
  const { isJson, world } = io;
  const printer = new RunPrinter(
    io,
    (text) => void world.stdout.write(text),
    (text) => io.progress(text),
  );
  const startedAt = Date.now();
  try {
    for await (const event of stream) if (!isJson) printer.print(event);
    const result = await stream.result;
    if (isJson) io.record(asJson(found, result));
    else printer.close(result, startedAt);
    if (result.approvals.length > 0) io.note("It waits again: offstage inbox shows for what.");
    return result.outcome.status === "failed" ? 1 : 0;
  } catch (error) {
    if (isOffstageError(error) && (error.result === undefined || error.code === "invalid-argument")) throw error;
    io.progress(undefined);
    io.note(`offstage: ${errorWords(error)}`);
    return 1;
  }
}

// "last" is the latest run that waits for a decision of this kind.
async function waitingRunId(store: Store, text: string, kind: Approval["kind"]): Promise<string> {
  if (text !== "last") return findRunId(store, text);
  for (const { runId } of await store.runs.list({ status: "waiting" })) {
    const run = await store.runs.get(runId);
    if (run?.approvals.some((approval) => approval.kind === kind)) return runId;
  }
  throw new NotFound(kind === "question" ? "No question waits for an answer." : "No call waits for a decision.");
}

// A subagent is continued by the run that called it.
async function outermost(store: Store, runId: string): Promise<FoundRun> {
  const run = await store.runs.get(runId);
  if (run === undefined) throw new NotFound(`The run "${runId}" cannot be read.`);
  return run.parentRunId === undefined ? run : outermost(store, run.parentRunId);
}

function chosen({ approvals, runId, status }: FoundRun, text: string | undefined, kind: Approval["kind"]): Approval {
  const fitting = approvals.filter((each) => each.kind === kind);
  if (fitting.length === 0)
    throw new NotFound(
      `Run "${runId}" is ${status}: nothing waits there${kind === "question" ? " for an answer" : ""}.`,
    );
  const exact = fitting.filter(({ toolCallId }) => toolCallId === text);
  const begun = fitting.filter(({ toolCallId }) => text === undefined || toolCallId.startsWith(text));
  const [only, ...others] = exact.length > 0 ? exact : begun;
  if (only !== undefined && others.length === 0) return only;
  const ids = fitting.map(({ toolCallId, toolName }) => `${toolCallId} (${toolName})`).join(", ");
  throw new NotFound(
    `${text === undefined ? "Several calls wait" : `"${text}" is none or several of the calls that wait`}: ${ids}. Name one.`,
  );
}

function asJson({ runId, sessionId }: FoundRun, { outcome, text, approvals }: RunResult<unknown>): object {
  return { runId, sessionId, status: outcome.status, reason: outcome.reason, text, waiting: approvals.length };
}
