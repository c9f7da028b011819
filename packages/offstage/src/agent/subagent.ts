// Running an agent as a tool: one level down, under its own run id, with one text for the parent at the end.
import { user } from "../messages/makers.ts";
import { AgentState } from "../state/agent-state.ts";
import type { WaitingChild } from "../state/pending-step.ts";
import type { ToolRunOptions } from "../tools/tool.ts";
import { ToolAnswer, ToolWaiting } from "../tools/tool-answer.ts";
import type { AgentConfig } from "./config/agent-config.ts";
import { loop } from "./lifecycle/loop.ts";
import { instructionsOf } from "./lifecycle/open-run.ts";
import type { SubagentOptions } from "./ports/agent-options.ts";
import type { RunResult } from "./ports/run-result.ts";
import { takeUp } from "./resume/resume.ts";
import { answerText, callerOf, failureText } from "./run/calling-tool.ts";
import { createRun } from "./run/create-run.ts";
import { isLogged, openLog } from "./run/recorder.ts";
import { type Run, takeLog } from "./run/run.ts";
import type { TrackedMessages } from "./run/tracked-messages.ts";

export interface RunSubagentOptions {
  readonly about: ToolRunOptions;
  readonly options: SubagentOptions;
  readonly name: string;
  readonly tracked: TrackedMessages;
}

/** A name that providers take for a tool. */
export function subagentToolName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "agent";
}

/** The answer of a subagent. Rejects only when the run that called it is aborted. */
export async function runSubagent(
  config: AgentConfig,
  prompt: string,
  { about, options, name, tracked }: RunSubagentOptions,
): Promise<ToolAnswer | ToolWaiting> {
  const caller = callerOf(about);
  const { maxDepth = 3, maxSteps } = options;
  const known = caller?.before?.child;
  if (known !== undefined && known.agent !== config.name) return foreign(known, config, name);
  const run = createRun(config, {
    input: known === undefined ? [user(prompt)] : [],
    runId: known?.runId,
    state: known?.state === undefined ? undefined : AgentState.fromJSON(known.state),
    options: { signal: about.signal, context: about.context, ...(maxSteps === undefined ? undefined : { maxSteps }) },
    caller,
    tracked,
  });
  if (run.depth > maxDepth)
    return refused(run, name, `subagents may nest ${maxDepth} deep, and this would be level ${run.depth}`);
  try {
    const result = await (known === undefined ? loop(run) : loop(run, (child) => reopenChild(child, known)));
    if (result.outcome.status === "waiting")
      return new ToolWaiting({ runId: run.runId, agent: config.name, state: result.state.toJSON() });
    return answerOf(result, name);
  } catch (error) {
    if (run.cancellation.isAborted) throw error;
    return new ToolAnswer(failureText(name, error), { isError: true, childRunId: run.runId });
  }
}

async function reopenChild(run: Run, { counted, state }: WaitingChild): Promise<AgentState> {
  run.instructions = await instructionsOf(run);
  if (isLogged(run)) takeLog(run, await openLog(run, []));
  return takeUp(run, counted ?? state?.usageByModel);
}

function foreign({ runId, agent }: WaitingChild, config: AgentConfig, name: string): ToolAnswer {
  const reason = `run "${runId}" belongs to agent "${agent}", and this is agent "${config.name}"`;
  return new ToolAnswer(failureText(name, reason), { isError: true });
}

function refused(run: Run, name: string, reason: string): ToolAnswer {
  run.cancellation[Symbol.dispose]();
  run.span.end("error");
  return new ToolAnswer(failureText(name, reason), { isError: true });
}

function answerOf(result: RunResult<unknown>, name: string): ToolAnswer {
  const { outcome, text, runId } = result;
  if (outcome.status === "completed") return new ToolAnswer(answerText(name, text), { childRunId: runId });
  const partial = text === "" ? "" : ` Partial answer: ${text}`;
  return new ToolAnswer(failureText(name, outcome.message + partial), { isError: true, childRunId: runId });
}
