// One tool per agent: it runs the agent, and hands what waits for a person to the client.

import type { Agent } from "../../agent/agent.ts";
import type { DecisionLists } from "../../agent/ports/approvals.ts";
import type { RunResult } from "../../agent/ports/run-result.ts";
import { isObject, type JsonValue, parseJson } from "../../base/json.ts";
import { isOffstageError, OffstageError } from "../../errors.ts";
import type { Approval } from "../../sessions/ports/run-record.ts";
import { clip } from "../../tools/json-safe.ts";
import type { CallSite, Question, Served, ServedTool } from "./served-tool.ts";

/** Any agent, whatever its output. */
export type AnyAgent = Pick<Agent<unknown>, "name" | "asTool" | "run" | "resume">;

const input = {
  type: "object",
  properties: {
    prompt: { type: "string", minLength: 1, description: "What to ask, with everything the agent needs to know." },
    session: { type: "string", description: "The conversation to continue. Default: a new one." },
  },
  required: ["prompt"],
  additionalProperties: false,
};

/** The tool `ask_name` of an agent. */
export function askTool(agent: AnyAgent): ServedTool {
  const { name, description = "" } = agent.asTool();
  return {
    name: `ask_${name}`.slice(0, 64),
    description,
    input,
    hints: { readOnlyHint: false, openWorldHint: true },
    serve: (given, site) =>
      site.state === undefined ? ask(agent, given as { prompt: string; session?: string }, site) : resume(agent, site),
  };
}

async function ask(agent: AnyAgent, given: { prompt: string; session?: string }, site: CallSite): Promise<Served> {
  const { store, access, signal } = site;
  if (access.session !== undefined && given.session !== undefined && given.session !== access.session)
    throw new OffstageError("invalid-argument", `There is no session "${clip(given.session, 200).text}".`);
  const session = store.session(access.session ?? given.session);
  const context = access.context === undefined ? {} : { context: access.context };
  return servedResult(await settle(agent.run(given.prompt, { session, signal, ...context })), {
    site,
    session: session.sessionId,
  });
}

/** A call that waits, as it travels to the client and back. */
interface WaitingCall {
  readonly toolCallId: string;
  readonly runId: string;
  /** "approve": a person decides. "answer": a person answers a question, in the form of its schema. "text": as text or JSON. */
  readonly wants: "approve" | "answer" | "text";
}

/** The state that travels to the client and back while a run waits. */
interface WaitingState {
  readonly run: string;
  readonly session: string;
  /** The waiting calls, by the key of their question. */
  readonly calls: Readonly<Record<string, WaitingCall>>;
}

async function resume(agent: AnyAgent, site: CallSite): Promise<Served> {
  const { store, access, signal, answers } = site;
  const { run, session, calls } = site.state as WaitingState;
  const decisions: DecisionLists = { approve: [], reject: [], answers: [] };
  let count = 0;
  for (const [key, call] of Object.entries(calls)) {
    const answer = answers[key];
    // Closing the question decides nothing.
    if (!isObject(answer) || answer.action === "cancel") continue;
    decideOn(decisions, call, answer);
    count++;
  }
  if (count === 0) return { text: waitsText(run, "Nothing was decided."), isError: true };
  const context = access.context === undefined ? {} : { context: access.context };
  return servedResult(await settle(agent.resume(run, { store, ...decisions, signal, ...context })), { site, session });
}

function decideOn(
  { approve, reject, answers }: DecisionLists,
  call: WaitingCall,
  answer: Record<string, unknown>,
): void {
  const { toolCallId, runId, wants } = call;
  const content = isObject(answer.content) ? answer.content : {};
  const isAccepted = answer.action === "accept";
  if (wants === "approve") {
    const { reason } = content;
    if (isAccepted && content.approve === true) approve.push({ toolCallId, runId });
    else reject.push({ toolCallId, runId, ...(typeof reason === "string" && reason !== "" && { reason }) });
  } else if (!isAccepted) answers.push({ toolCallId, runId, declined: true });
  else {
    const text = String(content.answer ?? "");
    answers.push({ toolCallId, runId, value: wants === "answer" ? (content as JsonValue) : (parseJson(text) ?? text) });
  }
}

// A failed run is a result too: its error may hold what must not leave, so only its code does.
async function settle(
  running: Promise<RunResult<unknown>>,
): Promise<RunResult<unknown> | { failed: string; run: string | undefined }> {
  try {
    return await running;
  } catch (error) {
    if (!isOffstageError(error)) throw error;
    const { runId } = (error.result ?? {}) as { runId?: string };
    return { failed: error.code, run: runId };
  }
}

interface Place {
  readonly site: CallSite;
  readonly session: string;
}

function servedResult(result: Awaited<ReturnType<typeof settle>>, { site, session }: Place): Served {
  if ("failed" in result) {
    const which = result.run === undefined ? "" : ` Its id is "${result.run}".`;
    return { text: `The run failed: ${result.failed}.${which}`, isError: true };
  }
  const { outcome, text, runId } = result;
  const meta = { "offstage/run": runId, "offstage/session": session };
  if (outcome.status === "waiting") return askPerson(result, { site, session });
  const said = clip(site.redact(text), site.maxBytes).text;
  if (outcome.status === "completed") return { text: said, meta };
  return { text: `The run was stopped: ${outcome.reason}. ${said}`.trim(), isError: true, meta };
}

function askPerson({ approvals, runId }: RunResult<unknown>, { site, session }: Place): Served {
  if (!site.canAsk) return { text: waitsText(runId, "This client cannot ask a person."), isError: true };
  const questions: Record<string, Question> = {};
  const calls: Record<string, WaitingCall> = {};
  for (const [index, approval] of approvals.entries()) {
    const { toolCallId, runId: asking } = approval;
    const { wants, ...question } = questionOf(approval);
    questions[`call${index}`] = site.redact(question);
    calls[`call${index}`] = { toolCallId, runId: asking, wants };
  }
  return { questions, state: { run: runId, session, calls } satisfies WaitingState };
}

function questionOf(approval: Approval): Question & Pick<WaitingCall, "wants"> {
  if (approval.kind === "question") {
    const { message, schema } = approval;
    const isForm = schema !== undefined && isFlat(schema);
    return { message, schema: isForm ? schema : textForm, wants: isForm ? "answer" : "text" };
  }
  const { toolName, input: asked } = approval;
  return {
    message: `Run ${toolName} with ${clip(JSON.stringify(asked), 4000).text}?`,
    schema: approvalForm,
    wants: "approve",
  };
}

// The protocol asks for forms with simple fields only.
function isFlat({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  const simple = ["string", "number", "integer", "boolean"];
  return (
    type === "object" &&
    isObject(properties) &&
    Object.values(properties).every((each) => isObject(each) && simple.includes(String(each.type)))
  );
}

const approvalForm = {
  type: "object",
  properties: {
    approve: { type: "boolean", title: "Approve", description: "Whether the call may run." },
    reason: { type: "string", title: "Reason", description: "Told to the agent if it may not." },
  },
  required: ["approve"],
};

const textForm = {
  type: "object",
  properties: { answer: { type: "string", title: "Answer", description: "Text, or JSON." } },
  required: ["answer"],
};

function waitsText(run: string, why: string): string {
  return `The run "${run}" waits for a person. ${why}`;
}
