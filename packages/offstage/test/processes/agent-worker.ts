// A process that runs or resumes agents on SQLite files, can be killed at any named point, and prints the results as JSON.
import { appendFileSync, writeSync } from "node:fs";
import type { Decisions } from "../../src/agent/ports/approvals.ts";
import { Agent, AgentState, isOffstageError, type RunResult, type Store, sqliteStore, tool } from "../../src/index.ts";
import { type CrashPoint, crashingStore, type ScriptedRequest, scriptedModel } from "../../src/testing/index.ts";

/** The point at which the process dies: a write of the store, before or after the nth model call, or inside a tool. */
export type KillPoint =
  | CrashPoint
  | { readonly model: number; readonly when: "before" | "after" }
  | { readonly tool: "charge" | "put" };

export interface AgentJob {
  readonly path: string;
  /** A file to which every tool appends its name. */
  readonly effects: string;
  /**
   * `worker` calls three tools in two steps; `parent` has it as a subagent, `guard` as one that needs approval; `payer` pays three people with approval;
   * `steward` has a subagent that pays with approval, then looks, then answers.
   */
  readonly agent: "worker" | "parent" | "guard" | "payer" | "steward";
  readonly isStreaming: boolean;
  readonly killAt?: KillPoint;
  /** The run to resume, by id or by state. Left out, a new run starts. */
  readonly resume?: { readonly runId: string } | { readonly state: unknown };
  readonly decisions?: Decisions;
}

export interface AgentReport {
  readonly runId?: string;
  readonly status?: string;
  readonly output?: unknown;
  /** The code of the error that the run failed with. */
  readonly failure?: string;
  readonly approvals?: readonly string[];
  /** All tokens of the run, including its subagents. */
  readonly tokens?: number;
  readonly state?: unknown;
  /** Tool results by call id, as sent to the model. */
  readonly results?: Readonly<Record<string, string>>;
}

const agents = { worker, parent, guard, payer, steward };
const jobs = JSON.parse(process.argv[2] ?? "[]") as AgentJob[];
for (const job of jobs) writeSync(1, `${JSON.stringify(await perform(job))}\n`);

async function perform(job: AgentJob): Promise<AgentReport> {
  const { path, killAt } = job;
  const plain = sqliteStore({ path });
  const store = killAt !== undefined && "at" in killAt ? crashingStore(plain, killAt) : plain;
  try {
    return reportOf(await start(agents[job.agent](job), job, store));
  } catch (error) {
    return { failure: isOffstageError(error) ? error.code : String(error) };
  } finally {
    await store.close();
  }
}

function start(agent: Agent, { resume, decisions, isStreaming }: AgentJob, store: Store) {
  if (resume === undefined) {
    const options = { session: store.session("s") };
    return isStreaming ? agent.stream("Go", options).result : agent.run("Go", options);
  }
  const source = "runId" in resume ? resume.runId : AgentState.fromJSON(resume.state);
  const options = { store, ...decisions };
  return isStreaming ? agent.resumeStream(source, options).result : agent.resume(source, options);
}

function reportOf({ runId, outcome, output, approvals, usage, state, messages }: RunResult): AgentReport {
  const results = messages
    .filter({ role: "tool" })
    .flatMap((message) => (message.role === "tool" ? [[message.tool_call_id, String(message.content)]] : []));
  return {
    runId,
    status: outcome.status,
    output,
    approvals: approvals.map(({ toolCallId }) => toolCallId),
    tokens: usage.totalTokens,
    state: state.toJSON(),
    results: Object.fromEntries(results),
  };
}

function worker(job: AgentJob): Agent {
  const act = (name: "charge" | "put" | "look", idempotent: boolean) =>
    tool({
      name,
      idempotent,
      execute: async () => {
        appendFileSync(job.effects, `${name}\n`);
        if (job.killAt !== undefined && "tool" in job.killAt && job.killAt.tool === name) await die();
        return `${name} done`;
      },
    });
  return new Agent({
    name: "worker",
    model: scriptedModel((request) => dying(job, request, () => workerReply(request))),
    tools: [act("charge", false), act("put", true), act("look", false)],
    maxParallelTools: 1,
    hooks: {
      onModelEnd: ({ step }) => {
        const { killAt } = job;
        if (killAt !== undefined && "model" in killAt && killAt.when === "after" && killAt.model === step) void die();
      },
    },
  });
}

function parent(job: AgentJob, needsApproval = false): Agent {
  const asking = { name: "worker", id: "worker", input: { prompt: "Work" } };
  const model = scriptedModel(({ messages }) => (messages.length === 1 ? { toolCalls: [asking] } : "Done."));
  return new Agent({ model, tools: [worker(job).asTool({ needsApproval })] });
}

function guard(job: AgentJob): Agent {
  return parent(job, true);
}

function workerReply({ messages }: ScriptedRequest) {
  const done = messages.filter(({ role }) => role === "tool").length;
  if (done === 0) return { toolCalls: ["charge", "put"].map((name) => ({ name, id: name })) };
  return done === 2 ? { toolCalls: [{ name: "look", id: "look" }] } : "Done.";
}

async function dying<T>({ killAt }: AgentJob, { messages }: ScriptedRequest, reply: () => T): Promise<T> {
  const step = messages.filter(({ role }) => role === "assistant").length + 1;
  if (killAt !== undefined && "model" in killAt && killAt.when === "before" && killAt.model === step) await die();
  return reply();
}

function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
}

function paying(job: AgentJob) {
  return tool({
    name: "pay",
    input: { type: "object", properties: { to: { type: "string" } } },
    needsApproval: true,
    execute: (input) => {
      const { to } = input as { to: string };
      appendFileSync(job.effects, `${to}\n`);
      return `paid ${to}`;
    },
  });
}

function payTo(to: string) {
  return { name: "pay", id: to, input: { to } };
}

function payer(job: AgentJob): Agent {
  const pay = paying(job);
  const inner = new Agent({
    name: "inner",
    model: scriptedModel(({ messages }) => (messages.length === 1 ? { toolCalls: [payTo("cy")] } : "Paid.")),
    tools: [pay],
  });
  const asking = { name: "inner", id: "inner", input: { prompt: "Pay Cy" } };
  const model = scriptedModel(({ messages }) =>
    messages.length === 1 ? { toolCalls: [payTo("ann"), payTo("bob"), asking] } : "Done.",
  );
  return new Agent({ model, tools: [pay, inner.asTool()] });
}

function steward(job: AgentJob): Agent {
  const look = tool({ name: "look", execute: () => appendFileSync(job.effects, "look\n") });
  const replies = [{ toolCalls: [payTo("cy")] }, { toolCalls: [{ name: "look", id: "look" }] }, "Paid."];
  const inner = new Agent({
    name: "inner",
    model: scriptedModel(({ messages }) => replies[messages.filter(({ role }) => role === "tool").length] ?? ""),
    tools: [paying(job), look],
  });
  const asking = { name: "inner", id: "inner", input: { prompt: "Pay Cy" } };
  const model = scriptedModel(({ messages }) => (messages.length === 1 ? { toolCalls: [asking] } : "Done."));
  return new Agent({ model, tools: [inner.asTool()] });
}
