// Stopping early is a result: it has a typed reason, the partial text marked as interrupted, and the usage.
import { describe, expect, test } from "vitest";
import {
  type Criterion,
  type CriterionFunction,
  deadline,
  errorPolicy,
  errorPresence,
  finishReason,
  repeatedCall,
  responseContent,
  retryLimit,
  selfCritic,
} from "../../src/doors/criteria.ts";
import { Agent, costLimit, type RunResult, reactDriver, stepLimit, timeLimit, tokenLimit } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { broken, calls, echo, echoing, glance, pause } from "../support/cast.ts";

/** A model that writes text and calls a tool in every reply, and never answers. */
const restless = (script: (index: number) => ScriptEntry = working) =>
  scriptedModel((request) => script(request.index) as Exclude<ScriptEntry, (...args: never) => unknown>);
const working = (index: number) => ({
  text: `Working on ${index + 1}.`,
  toolCalls: [echoing(`${index}`)],
  usage: { inputTokens: 100, outputTokens: 20 },
});

function expectStopped(result: RunResult<unknown>, reason: string, steps: number): void {
  expect(result.outcome).toMatchObject({ status: "stopped", reason, message: expect.stringMatching(/\.$|:/) });
  expect(result.outcome.verdicts?.map(({ criterion }) => criterion)).toContain(result.outcome.criterion);
  expect(result.steps).toHaveLength(steps);
}

function expectPartial(result: RunResult<unknown>, text: string): void {
  expect(result.text).toBe(text);
  expect(result.output).toBe(text);
  const last = result.state.messages.at(-1);
  expect(last).toMatchObject({ role: "assistant", content: text, metadata: { interrupted: true } });
}

describe("a limit or criterion stops a run with its own reason, the partial text and the usage", () => {
  const soon = () => Date.now() + 150;
  const cases: readonly [string, () => Criterion | CriterionFunction, number | undefined][] = [
    ["step-limit", () => stepLimit(3), 3],
    ["token-limit", () => tokenLimit(240), 2],
    ["cost-limit", () => costLimit(0.5, { prices: { scripted: { input: 1000, output: 5000 } } }), 3],
    ["time-limit", () => timeLimit(150), undefined],
    ["deadline", () => deadline(soon()), undefined],
    ["repeated-call", () => repeatedCall(2), 2],
    ["enough", () => (state) => (state.stepCount < 2 ? undefined : stop("enough")), 2],
    ["noMoreThanTwo", () => noMoreThanTwo, 2],
  ];

  const noMoreThanTwo: CriterionFunction = (state) => state.stepCount >= 2;
  const stop = (reason: string) => ({ decision: "stop", reason, message: "That is enough." }) as const;

  for (const [reason, criterion, steps] of cases) {
    bothWays(`the reason ${reason}`, async ({ play }) => {
      const model = scriptedModel(async ({ index }) => {
        if (steps === undefined && index === 1) await pause(170);
        const reply = working(index);
        return reason === "repeated-call" ? { ...reply, toolCalls: [echoing("same")] } : reply;
      });
      const agent = new Agent({ model, tools: [echo], separateToolTrace: true, stopWhen: criterion() });
      const result = await play(agent, "Go");
      expectStopped(result, reason, steps ?? result.steps.length);
      expectPartial(result, `Working on ${result.steps.length}.`);
      expect(result.usage.totalTokens).toBe(120 * result.steps.length);
    });
  }
});

describe("replies and errors", () => {
  bothWays("finishReason() stops the run, and marks the truncated answer as interrupted", async ({ play }) => {
    const model = scriptedModel([{ text: "It is be", finishReason: "length" }]);
    for (const separateToolTrace of [true, false]) {
      const agent = new Agent({
        model: separateToolTrace ? model : scriptedModel([{ text: "It is be", finishReason: "length" }]),
        separateToolTrace,
        stopWhen: finishReason(),
      });
      const result = await play(agent, "Why?");
      expectStopped(result, "finish-reason", 1);
      expectPartial(result, "It is be");
    }
  });

  bothWays("a truncated reply is an answer if no criterion checks the finish reason", async ({ play }) => {
    const agent = new Agent({ model: scriptedModel([{ text: "It is be", finishReason: "length" }]) });
    expect((await play(agent, "Why?")).outcome).toMatchObject({ status: "completed", reason: "answered" });
  });

  bothWays("errorPresence() stops the run at the first failed tool", async ({ play }) => {
    const model = scriptedModel([calls(echoing("a")), { text: "Hm.", toolCalls: [{ name: "broken" }] }]);
    const agent = new Agent({ model, tools: [echo, broken], separateToolTrace: true, stopWhen: errorPresence() });
    const result = await play(agent, "Go");
    expectStopped(result, "error-presence", 2);
    expectPartial(result, "Hm.");
  });

  bothWays("an error policy fails the run with its own code and the result so far", async ({ fail }) => {
    const model = scriptedModel([calls({ name: "broken" })]);
    const error = await fail(new Agent({ model, tools: [broken], errorPolicy: "stop" }), "Go");
    expect(error).toMatchObject({ code: "error-policy", message: expect.stringContaining("the pipe burst") });
    expect(error.result.outcome).toMatchObject({ status: "failed", reason: "error-policy" });
    expect(error.result.usage.totalTokens).toBe(15);
  });

  bothWays("an error policy counts the errors of the whole run, or failed steps in a row", async ({ fail }) => {
    const two = await fail(
      new Agent({
        model: restless(() => calls({ name: "broken" }, echoing("a"))),
        tools: [broken, echo],
        errorPolicy: { maxToolErrors: 2 },
      }),
      "Go",
    );
    const script = [
      calls({ name: "broken" }),
      calls(echoing("a")),
      calls({ name: "broken" }),
      calls({ name: "broken" }),
    ];
    const inARow = await fail(
      new Agent({
        model: scriptedModel(script),
        tools: [broken, echo],
        stopWhen: errorPolicy({ maxFailedSteps: 2 }),
      }),
      "Go",
    );
    expect(two.result.steps).toHaveLength(2);
    expect(inARow.result.steps).toHaveLength(4);
  });

  bothWays("a recovered tool error does not fail a run", async ({ play }) => {
    const model = scriptedModel([calls({ name: "broken" }), "I managed without."]);
    const { outcome } = await play(new Agent({ model, tools: [broken] }), "Go");
    expect(outcome).toMatchObject({ status: "completed", reason: "answered" });
  });

  bothWays("retryLimit() fails a run whose model keeps sending malformed replies", async ({ fail }) => {
    const model = scriptedModel(() => "Thought: hm");
    const agent = new Agent({ model, tools: [echo], driver: reactDriver(), stopWhen: retryLimit(1) });
    const error = await fail(agent, "Go");
    expect(error.result.outcome).toMatchObject({ status: "failed", reason: "retry-limit" });
    expect(error.result.steps).toHaveLength(2);
  });

  bothWays("responseContent() sends an answer back until it passes", async ({ play }) => {
    const model = scriptedModel(["Not yet", "Now it is DONE"]);
    const agent = new Agent({
      model,
      separateToolTrace: true,
      stopWhen: responseContent(/DONE/, { feedback: "Go on." }),
    });
    const { output, state } = await play(agent, "Go");
    expect(output).toBe("Now it is DONE");
    expect(glance(model.requests[1]?.messages ?? [])).toEqual(["user: Go", "assistant: Not yet", "user: Go on."]);
    expect(glance(state.messages)).toEqual(["user: Go", "assistant: Now it is DONE"]);
  });

  bothWays("selfCritic() sends an answer back a limited number of times", async ({ play }) => {
    const model = scriptedModel(["One", "Two", "Three"]);
    const seen: string[] = [];
    const critic = selfCritic(async (answer) => {
      seen.push(answer);
      return { accept: false, feedback: `${answer} is not enough.` };
    });
    const { output, outcome } = await play(new Agent({ model, stopWhen: critic }), "Go");
    expect({ output, seen }).toEqual({ output: "Three", seen: ["One", "Two"] });
    expect(outcome.status).toBe("completed");
  });
});

describe("hard limits", () => {
  const always: CriterionFunction = () => ({
    decision: "continue",
    reason: "more",
    message: "More!",
    feedback: "More!",
  });

  for (const [name, limit] of [
    ["step-limit", stepLimit(2)],
    ["token-limit", tokenLimit(30)],
    ["cost-limit", costLimit(20, { prices: { scripted: { input: 1e6, output: 0 } } })],
  ] as const) {
    bothWays(`${name} is not overridden by a vote to continue`, async ({ play }) => {
      const model = scriptedModel(() => "An answer.");
      const result = await play(new Agent({ model, stopWhen: [always, limit] }), "Go");
      expectStopped(result, name, 2);
      expectPartial(result, "An answer.");
    });
  }

  bothWays("a limit reached by the step that answers does not stop the run: it is completed", async ({ play }) => {
    const script = [calls(echoing("a")), "Done."];
    for (const options of [
      { maxSteps: 2 },
      { stopWhen: tokenLimit(30) },
      { stopWhen: [stepLimit(2), tokenLimit(1e6)] },
    ]) {
      const agent = new Agent({ model: scriptedModel(script), tools: [echo], separateToolTrace: true, ...options });
      const { outcome, output, state } = await play(agent, "Go");
      expect({ output, ...outcome }).toMatchObject({ output: "Done.", status: "completed", reason: "answered" });
      expect(state.messages.at(-1)?.metadata?.interrupted).toBeUndefined();
    }
  });

  bothWays("a limit exceeded before the first step prevents any model call", async ({ play }) => {
    const model = scriptedModel([]);
    const result = await play(new Agent({ model, stopWhen: deadline(Date.now() - 1) }), "Go");
    expectStopped(result, "deadline", 0);
    expect({ text: result.text, calls: model.callCount }).toEqual({ text: "", calls: 0 });
  });

  bothWays("a criterion that is not a limit is first asked after the first step", async ({ play }) => {
    const asked: number[] = [];
    const saysStop: CriterionFunction = (state) => {
      asked.push(state.stepCount);
      return state.currentStep?.text.includes("STOP");
    };
    const never: Criterion = {
      name: "never",
      decide: () => ({ decision: "stop", reason: "never", message: "No more." }),
    };
    const script = [{ text: "Go on.", toolCalls: [echoing("a")] }, "STOP"];
    const model = () => scriptedModel(script);
    const result = await play(new Agent({ model: model(), tools: [echo], stopWhen: saysStop }), "Go");
    expectStopped(result, "saysStop", 2);
    expect(asked).toEqual([1, 2]);
    const once = await play(new Agent({ model: model(), tools: [echo], stopWhen: never }), "Go");
    expectStopped(once, "never", 1);
  });

  bothWays("maxSteps of a run overrides maxSteps of the agent", async ({ play }) => {
    const agent = new Agent({ model: restless(), tools: [echo], maxSteps: 5 });
    expect((await play(agent, "Go", { maxSteps: 1 })).steps).toHaveLength(1);
    expect((await play(agent, "Go")).steps).toHaveLength(5);
  });

  bothWays("the order of criteria does not matter", async ({ play }) => {
    const criteria = [tokenLimit(120), repeatedCall(2), stepLimit(1), errorPresence()];
    const outcomes = [];
    for (const stopWhen of [criteria, criteria.toReversed()]) {
      outcomes.push((await play(new Agent({ model: restless(), tools: [echo], stopWhen }), "Go")).outcome);
    }
    expect({ ...outcomes[0] }).toEqual({ ...outcomes[1] });
  });

  bothWays("a run that is stopped before the model wrote any text has an empty text", async ({ play }) => {
    const agent = new Agent({
      model: restless(() => calls(echoing("a"))),
      tools: [echo],
      separateToolTrace: true,
      maxSteps: 2,
    });
    const { text, state } = await play(agent, "Go");
    expect(text).toBe("");
    expect(glance(state.messages)).toEqual(["user: Go"]);
  });
});

test("invalid limits are refused", () => {
  for (const make of [() => stepLimit(0), () => tokenLimit(-1), () => timeLimit(Number.NaN), () => costLimit(0)]) {
    expect(make).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  }
  for (const make of [() => deadline(Number.NaN), () => repeatedCall(1), () => retryLimit(-1), () => stepLimit(1.5)]) {
    expect(make).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  }
});
