// What can be said to an agent, a run and hooks, and what others call it: so that a slip is told and not passed over.
import type { KnownNames } from "../../base/check-slips.ts";
import type { AgentOptions, ResumeOptions, RunOptions, SubagentOptions } from "../ports/agent-options.ts";
import { hookNames } from "../ports/hooks.ts";

type Names<Options> = Readonly<Record<keyof Options, true>>;

const ofAgent: Names<AgentOptions> = {
  name: true,
  model: true,
  instructions: true,
  description: true,
  tools: true,
  separateToolTrace: true,
  toolHistory: true,
  processors: true,
  continueWhile: true,
  errorPolicy: true,
  hooks: true,
  inputGuardrails: true,
  outputGuardrails: true,
  toolInputGuardrails: true,
  toolOutputGuardrails: true,
  output: true,
  outputRetries: true,
  driver: true,
  modelSettings: true,
  retry: true,
  maxSteps: true,
  maxParallelTools: true,
  memory: true,
  memoryTokens: true,
  compaction: true,
  tokenCounter: true,
  keepMessages: true,
  session: true,
  tracing: true,
};

const ofRun: Names<RunOptions> = {
  session: true,
  historyLimit: true,
  historyTokens: true,
  onBusy: true,
  record: true,
  context: true,
  hooks: true,
  signal: true,
  maxSteps: true,
  tracing: true,
};

const ofResume: Names<Omit<ResumeOptions, keyof RunOptions>> = { approve: true, reject: true, store: true };

const ofSubagent: Names<SubagentOptions> = {
  name: true,
  description: true,
  maxDepth: true,
  maxSteps: true,
  timeoutMs: true,
  needsApproval: true,
  remember: true,
};

function takenBy(owner: string, names: object): Record<string, string> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, owner]));
}

const hookAliens = { onFinish: "onRunEnd", onEnd: "onRunEnd", onStepFinish: "onStepEnd", onToolCall: "onToolStart" };
const inHooks = Object.fromEntries([
  ...hookNames.map((name) => [name, `hooks: { ${name} }`]),
  ...Object.entries(hookAliens).map(([alien, name]) => [alien, `hooks: { ${name} }`]),
]);
const stepLimit = { maxTurns: "maxSteps", maxIterations: "maxSteps", stepLimit: "maxSteps" };
const forSession = { store: "session", sessionId: "session", threadId: "session", conversationId: "session" };

/** What `new Agent` takes. */
export const knownToAgents: KnownNames = {
  names: ofAgent,
  aliens: {
    ...stepLimit,
    ...forSession,
    ...inHooks,
    system: "instructions",
    systemPrompt: "instructions",
    prompt: "instructions",
    stopWhen: "continueWhile",
    outputType: "output",
    outputSchema: "output",
    schema: "output",
    responseFormat: "output",
    temperature: "modelSettings: { temperature }",
    maxTokens: "modelSettings: { maxOutputTokens }",
    handoffs: "tools: [other.asTool()]",
    subagents: "tools: [other.asTool()]",
    agents: "tools: [other.asTool()]",
    guardrails: "inputGuardrails",
    parallelTools: "maxParallelTools",
  },
  elsewhere: takenBy("a run", ofRun),
};

const runAliens = { ...stepLimit, ...forSession, ...inHooks, abortSignal: "signal" };

/** What `run` and `stream` take. */
export const knownToRuns: KnownNames = {
  names: ofRun,
  aliens: { ...runAliens, store: 'session: store.session("some id")' },
  elsewhere: { ...takenBy("the agent", ofAgent), ...takenBy("resume()", ofResume) },
};

/** What `resume` takes. */
export const knownToResume: KnownNames = {
  names: { ...ofRun, ...ofResume },
  aliens: { ...runAliens, approvals: "approve", decisions: "approve", deny: "reject" },
  elsewhere: takenBy("the agent", ofAgent),
};

/** What `asTool` takes. */
export const knownToSubagents: KnownNames = {
  names: ofSubagent,
  aliens: { ...stepLimit, toolName: "name", toolDescription: "description" },
};

/** What hooks are called. */
export const knownToHooks: KnownNames = {
  names: Object.fromEntries(hookNames.map((name) => [name, true])),
  aliens: hookAliens,
};
