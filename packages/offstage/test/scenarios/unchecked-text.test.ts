// Nothing that an output guardrail has not passed leaves a run: in no event, result, error, session or list of messages.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  memoryStore,
  type OutputGuardrail,
  type RunResult,
  reactDriver,
} from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing } from "../support/cast.ts";

const secret = "hunter2";
const noSecrets: OutputGuardrail = { name: "no-secrets", check: ({ text }) => !text.includes(secret) };
const failing: OutputGuardrail = {
  name: "failing",
  check: () => {
    throw new Error("down");
  },
};

interface Case {
  readonly script: readonly ScriptEntry[];
  readonly options?: Partial<AgentOptions<unknown>>;
}

const long = `I am quite sure that the password of the stage door is ${secret}.`;
const answers: Readonly<Record<string, Case>> = {
  "an answer": { script: [long] },
  "an answer after a tool": { script: [calls(echoing("a")), long] },
  "an answer whose reasoning repeats it": { script: [{ reasoning: long, text: long }] },
  "a structured answer": {
    script: [JSON.stringify({ word: secret })],
    options: { output: z.object({ word: z.string() }) },
  },
  "a ReAct answer": { script: [`Thought: easy.\nFinal Answer: ${long}`], options: { driver: reactDriver() } },
  "a ReAct answer without a marker": { script: [long], options: { driver: reactDriver() } },
  "a ReAct answer as JSON": { script: [JSON.stringify({ answer: long })], options: { driver: reactDriver() } },
  "a ReAct answer whose thought has it": {
    script: [`Thought: ${long}\nFinal Answer: ${long}`],
    options: { driver: reactDriver() },
  },
  "a draft that a criterion sends back": {
    script: [long, "It is sunny."],
    options: {
      stopWhen: (state) =>
        state.stepCount === 1
          ? { decision: "continue", reason: "more", message: "More.", feedback: "Again." }
          : undefined,
    },
  },
  "a draft that does not fit its schema": {
    script: [JSON.stringify({ wrong: secret }), '{ "word": "fine" }'],
    options: { output: z.object({ word: z.string() }) },
  },
  "drafts of a run that fails because none fits": {
    script: [JSON.stringify({ wrong: secret }), long],
    options: { output: z.object({ word: z.string() }), outputRetries: 1 },
  },
  "a ReAct draft that cannot be read": {
    script: [`Thought: ${long}`, "Final Answer: It is sunny."],
    options: { driver: reactDriver() },
  },
  "an answer of a run that a criterion fails": {
    script: [long],
    options: {
      stopWhen: () => {
        throw new Error("broken");
      },
    },
  },
  "an answer that a guardrail fails to check": { script: [long], options: { outputGuardrails: [failing] } },
  "an answer of a run that a limit stops": {
    script: [long],
    options: { stopWhen: () => ({ decision: "stop", reason: "enough", message: "Enough." }) },
  },
};

function allOf(result: RunResult<unknown>): unknown {
  const { trace: _, ...rest } = result;
  return [rest, result.state.toJSON(), result.steps, result.messages.all(), result.text, result.guardrailTrips];
}

describe("a guarded run keeps back", () => {
  for (const [name, { script, options }] of Object.entries(answers)) {
    bothWays(name, async ({ play, events, ended }) => {
      const store = memoryStore();
      const hooked: AgentEvent[] = [];
      const note = (event: AgentEvent) => void hooked.push(event);
      const hooks = {
        onMessageAdded: note,
        onStepEnd: note,
        onModelEnd: note,
        onRunEnd: note,
        onGuardrailTrip: note,
        onError: note,
      };
      const agent = new Agent({
        model: scriptedModel(script),
        tools: [echo],
        outputGuardrails: [noSecrets],
        hooks,
        ...options,
      });
      const error = await play(agent, "Tell me.", { session: store.session("s") }).catch((error: unknown) => error);
      const shown = (value: unknown) =>
        JSON.stringify(value, (_, each) =>
          each instanceof Error
            ? [
                each.message,
                (each as { result?: RunResult }).result && allOf((each as { result?: RunResult }).result as RunResult),
              ]
            : each,
        );
      expect(shown(events)).not.toContain(secret);
      expect(shown(hooked)).not.toContain(secret);
      expect(shown(ended.map(allOf))).not.toContain(secret);
      expect(shown(error)).not.toContain(secret);
      expect(shown(await store.session("s").transcript())).not.toContain(secret);
      expect(shown(agent.getMessages())).not.toContain(secret);
      expect(hooked.some(({ type }) => type === "step-end")).toBe(true);
    });
  }

  bothWays("an answer that is being checked when the run is aborted", async ({ play, ended }) => {
    const controller = new AbortController();
    const hanging: OutputGuardrail = {
      name: "hanging",
      check: () => new Promise(() => setTimeout(() => controller.abort(), 5)),
    };
    const agent = new Agent({ model: scriptedModel([long]), outputGuardrails: [hanging] });
    await play(agent, "Tell me.", { signal: controller.signal }).catch(() => undefined);
    expect(JSON.stringify([ended.map(allOf), agent.getMessages()])).not.toContain(secret);
  });
});

describe("a guarded stream", () => {
  test("shows reasoning and text once the answer has passed, and those beside tool calls at once", async () => {
    const script = [
      { reasoning: "Hm.", text: "I look.", toolCalls: [echoing("a")] },
      { reasoning: "Ah.", text: "It is sunny." },
    ];
    const agent = new Agent({ model: scriptedModel(script), tools: [echo], outputGuardrails: [noSecrets] });
    const seen: string[] = [];
    for await (const event of agent.stream("Tell me.")) {
      if (event.type === "reasoning-delta" || event.type === "text-delta") seen.push(`${event.step} ${event.delta}`);
      if (event.type === "tool-start") seen.push("tool");
    }
    expect(seen).toEqual(["1 Hm.", "1 I look.", "tool", "2 Ah.", "2 It is sunny."]);
  });

  test("shows a draft that has passed, as without guardrails", async () => {
    const stopWhen: AgentOptions["stopWhen"] = ({ stepCount }) =>
      stepCount === 1 ? { decision: "continue", reason: "more", message: "More.", feedback: "Again." } : undefined;
    const agent = new Agent({ model: scriptedModel(["Rain.", "Sun."]), stopWhen, outputGuardrails: [noSecrets] });
    let text = "";
    for await (const delta of agent.stream("Tell me.").text) text += delta;
    expect(text).toBe("Rain.Sun.");
  });
});

test("a withheld draft is sent back without its text, and the run goes on", async () => {
  const model = scriptedModel([JSON.stringify({ wrong: secret }), '{ "word": "fine" }']);
  const agent = new Agent({ model, output: z.object({ word: z.string() }), outputGuardrails: [noSecrets] });
  const { output, guardrailTrips, steps } = await agent.run("Tell me.");
  expect(output).toEqual({ word: "fine" });
  expect(guardrailTrips).toHaveLength(1);
  expect(steps[0]).toMatchObject({ text: "", correction: { reason: "output-mismatch" } });
  expect(model.requests[1]?.messages.map(({ content }) => content)).toContain("[withheld by a guardrail]");
});
