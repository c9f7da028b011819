// Generated runs: an agent whose steps draft, reason, call tools that answer, fail, wait for a person or ask a subagent, and then
// answer. Everything of a tool has the word of the leak test in it.
import fc from "fast-check";
import { Agent, tool } from "../../src/index.ts";
import { type ScriptedReply, scriptedModel } from "../../src/testing/index.ts";

/** In the name, input and output of every tool, and in all that subagents say. Never in drafts and answers. */
export const canary = "OFFSTAGE";

type Call = "look" | "fail" | "pay" | "child" | "unknown" | "broken";

interface GeneratedStep {
  readonly draft: string;
  readonly reasoning: boolean;
  readonly calls: readonly Call[];
}

export interface GeneratedRun {
  readonly steps: readonly GeneratedStep[];
  readonly answer: string;
}

/** Options of `generatedRuns`. */
interface Kinds {
  /** Whether calls may wait for a person. */
  readonly waits: boolean;
}

const words = fc.constantFrom("", "Let me see. ", "One moment, è 🌍. ");

export function generatedRuns({ waits }: Kinds): fc.Arbitrary<GeneratedRun> {
  const call = fc.constantFrom<Call>(
    "look",
    "fail",
    "child",
    "unknown",
    "broken",
    ...(waits ? (["pay"] as const) : []),
  );
  const step = fc.record({
    draft: words,
    reasoning: fc.boolean(),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  });
  return fc.record({
    steps: fc.array(step, { maxLength: 3 }),
    answer: fc.constantFrom("Done.", "It is sunny in Paris, and it will stay so.", 'A "quoted"\n\ndata: answer.'),
  });
}

/** The agent of a generated run. Its model can play the run `times` times. */
export function agentOf({ steps, answer }: GeneratedRun, times = 1): Agent {
  const child = childAgent(times * steps.flatMap(({ calls }) => calls).filter((call) => call === "child").length);
  const replies = [...steps.map(replyOf), answer];
  return new Agent({
    name: "desk",
    model: scriptedModel(Array.from({ length: times }, () => replies).flat(), { record: false }),
    tools: [...tools, child],
  });
}

const look = tool({
  name: `${canary}_look`,
  execute: () => ({ seen: `${canary} output`, list: [1, null] }),
});
const fail = tool({
  name: `${canary}_fail`,
  execute: () => {
    throw new Error(`${canary} failure`);
  },
});
/** Waits for a person, so its name and input are told: they do not have the word. */
const pay = tool({ name: "pay", needsApproval: true, execute: () => `${canary} paid` });
const tools = [look, fail, pay];

function childAgent(runs: number) {
  const replies: (ScriptedReply | string)[] = [
    { text: `${canary} draft`, toolCalls: [{ name: look.name, id: "call-0" }] },
    `${canary} answer`,
  ];
  const model = scriptedModel(Array.from({ length: runs }, () => replies).flat(), { record: false });
  return new Agent({ name: `${canary}_child`, model, tools: [look] }).asTool();
}

function replyOf({ draft, reasoning, calls }: GeneratedStep, step: number): ScriptedReply {
  return {
    ...(draft !== "" && { text: draft }),
    ...(reasoning && { reasoning: `${canary} reasoning` }),
    toolCalls: calls.map((call, index) => callOf(call, `call-${step}-${index}`)),
  };
}

function callOf(call: Call, id: string) {
  if (call === "pay") return { name: "pay", input: { euros: 5 }, id };
  if (call === "child") return { name: `${canary}_child`, input: { prompt: `${canary} prompt` }, id };
  if (call === "broken") return { name: look.name, arguments: `{"${canary}`, id };
  return { name: `${canary}_${call}`, input: { query: `${canary} input` }, id };
}
