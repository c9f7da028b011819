// Subagents: an agent as a tool of another. The parent gets one result. The subagent shares the parent's depth limit, budget,
// cancellation, usage and context.
import { messageOf } from "../errors.ts";
import { user } from "../messages/makers.ts";
import { type Message, parseMessages } from "../messages/message.ts";
import { AgentState } from "../state/agent-state.ts";
import type { WaitingChild } from "../state/pending-step.ts";
import type { ToolRunOptions } from "../tools/tool.ts";
import { ToolAnswer, ToolWaiting } from "../tools/tool-answer.ts";
import type { AgentConfig } from "./config/agent-config.ts";
import { checkOutput } from "./config/structured-output.ts";
import { setUpStep } from "./input/prompt.ts";
import { loop } from "./lifecycle/loop.ts";
import { createRun, openLog } from "./lifecycle/open-run.ts";
import type { SubagentOptions } from "./ports/agent-options.ts";
import type { RunResult } from "./ports/run-result.ts";
import { continueRun, nextStep } from "./resume/resume.ts";
import type { TrackedMessages } from "./run/recorder.ts";
import { callerOf, type Run } from "./run/run.ts";

export interface RunSubagentOptions {
  readonly about: ToolRunOptions;
  readonly options: SubagentOptions;
  readonly name: string;
  readonly tracked: TrackedMessages;
}

/** The name of an agent in the form that providers accept for tools. */
export function subagentToolName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "agent";
}

/** Runs an agent as a tool. Rejects only if the calling run is aborted. */
export async function runSubagent(
  agent: AgentConfig,
  input: unknown,
  { about, options, name, tracked }: RunSubagentOptions,
): Promise<ToolAnswer | ToolWaiting> {
  const caller = callerOf(about);
  const { maxDepth = 3, maxSteps } = options;
  const known = caller?.before?.child;
  if (known !== undefined && known.agent !== agent.name) return failure(name, foreignRun(known, agent));
  const message = known === undefined ? await messageOfInput(input, options) : undefined;
  const run = createRun(agent, {
    input: message === undefined ? [] : [message],
    runId: known?.runId,
    state: known?.state && AgentState.fromJSON(known.state),
    options: { signal: about.signal, context: about.context, ...(maxSteps !== undefined && { maxSteps }) },
    caller,
    tracked,
  });
  if (run.identity.depth > maxDepth) return tooDeep(run, name, maxDepth);
  try {
    const result = await (known === undefined ? loop(run) : loop(run, (child) => reopen(child, known)));
    // A subagent that was asked to stop has a result, but the run above it stops too.
    run.scope.cancellation.signal.throwIfAborted();
    const { runId } = run.identity;
    if (result.outcome.status === "waiting")
      return new ToolWaiting({ child: { runId, agent: agent.name, state: result.state.toJSON() } });
    return answerOf(result, name, await structuredOutput(run, result));
  } catch (error) {
    if (run.scope.cancellation.signal.aborted) throw error;
    return failure(name, messageOf(error), run.identity.runId);
  }
}

async function reopen(run: Run, { counted, state }: WaitingChild): Promise<AgentState> {
  await setUpStep(run, nextStep(run, undefined));
  await openLog(run);
  return continueRun(run, counted ?? state?.usageByModel);
}

function foreignRun({ runId, agent }: WaitingChild, { name }: AgentConfig): string {
  return `run "${runId}" belongs to agent "${agent}", and this is agent "${name}"`;
}

function tooDeep({ scope, identity }: Run, name: string, maxDepth: number): ToolAnswer {
  scope.cancellation[Symbol.dispose]();
  scope.span.end("error");
  return failure(name, `subagents may nest ${maxDepth} deep, and this would be level ${identity.depth}`);
}

// A `prompt` that throws fails the call, like any tool.
async function messageOfInput(input: unknown, { prompt, input: schema }: SubagentOptions): Promise<Message> {
  const given = input as { prompt: string };
  const made =
    prompt === undefined ? (schema === undefined ? String(given.prompt) : JSON.stringify(input)) : await prompt(given);
  if (typeof made === "string") return user(made);
  const [message] = parseMessages([made], { name: "prompt" });
  return message as Message;
}

// A run that had ended before it was resumed has its text only.
async function structuredOutput({ agent, scope }: Run, result: RunResult<unknown>): Promise<Structured | undefined> {
  if (agent.output === undefined || result.outcome.status !== "completed") return undefined;
  if (result.output !== undefined) return { value: result.output };
  const checked = await checkOutput(agent.output, result.text, scope.cancellation);
  return "value" in checked ? checked : undefined;
}

interface Structured {
  readonly value: unknown;
}

// Structured output arrives as it is; text says where it comes from.
function answerOf(
  { outcome, text, runId }: RunResult<unknown>,
  name: string,
  structured: Structured | undefined,
): ToolAnswer {
  if (structured !== undefined) return new ToolAnswer(text, { value: structured.value, childRunId: runId });
  if (outcome.status === "completed") return new ToolAnswer(`[Subagent: ${name}] ${text}`, { childRunId: runId });
  const partial = text === "" ? "" : ` Partial answer: ${text}`;
  return failure(name, outcome.message + partial, runId);
}

function failure(name: string, reason: string, childRunId?: string): ToolAnswer {
  const text = `[Subagent: ${name}] Failed: ${reason}`;
  return new ToolAnswer(text, { isError: true, ...(childRunId !== undefined && { childRunId }) });
}
