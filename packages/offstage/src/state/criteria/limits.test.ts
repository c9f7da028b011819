import { afterEach, describe, expect, test, vi } from "vitest";
import { buildState, buildStep, buildToolStep, buildUsage } from "../../../test/support/build-state.ts";
import { type Criterion, retryLimit, stepLimit } from "../criterion.ts";
import { costLimit, deadline, timeLimit, tokenLimit, withAgentPrices } from "./limits.ts";

afterEach(() => vi.useRealTimers());

const stateOf = (count: number) => buildState({ steps: Array.from({ length: count }, () => buildToolStep()) });
const spending = (tokens: number, modelId = "m") =>
  buildState({ steps: [buildStep()], usageByModel: { [modelId]: buildUsage(tokens) } });
const stops = (reason: string, status = "stopped") => expect.objectContaining({ decision: "stop", reason, status });

describe("step limit", () => {
  test("stops the run once it has taken so many steps", () => {
    const limit = stepLimit(2);
    expect([1, 2, 3].map((count) => limit.decide(stateOf(count)))).toEqual([
      undefined,
      stops("step-limit"),
      stops("step-limit"),
    ]);
  });

  test("is 20 by default", () => {
    expect([stepLimit().decide(stateOf(19)), stepLimit().decide(stateOf(20))]).toEqual([
      undefined,
      stops("step-limit"),
    ]);
  });

  test("does not bind subagents", () => {
    expect(stepLimit().isShared).toBeUndefined();
  });
});

describe("token limit", () => {
  test("stops the run once so many tokens are used", () => {
    expect([tokenLimit(100).decide(spending(99)), tokenLimit(100).decide(spending(100))]).toEqual([
      undefined,
      expect.objectContaining({ message: "The run used 100 tokens; its limit is 100." }),
    ]);
  });

  test("counts every model of the run", () => {
    const usageByModel = { a: buildUsage(60), b: buildUsage(0, 60) };
    expect(tokenLimit(100).decide(buildState({ steps: [buildStep()], usageByModel }))).toEqual(stops("token-limit"));
  });
});

describe("time limit", () => {
  test("stops the run once it took so long", () => {
    vi.useFakeTimers({ now: 10_000 });
    const [young, old] = [buildState({ startedAt: 9_500 }), buildState({ startedAt: 9_000 })];
    expect([timeLimit(1000).decide(young), timeLimit(1000).decide(old)]).toEqual([undefined, stops("time-limit")]);
  });

  test("has no opinion about a run that has not begun", () => {
    expect(timeLimit(1).decide(buildState().forContinuation())).toBeUndefined();
  });
});

describe("deadline", () => {
  test("stops the run from that moment on, given as a date or in milliseconds", () => {
    vi.useFakeTimers({ now: 10_000 });
    const decisions = [deadline(10_001), deadline(new Date(10_000))].map((limit) => limit.decide(buildState()));
    expect(decisions).toEqual([undefined, stops("deadline")]);
  });

  test("names the deadline", () => {
    expect(deadline(0).decide(buildState())).toMatchObject({
      message: "The deadline 1970-01-01T00:00:00.000Z has passed.",
    });
  });
});

describe("cost limit", () => {
  const prices = { cheap: { input: 1, output: 1 }, dear: { input: 100, output: 100 } };

  test("stops the run once so much is spent, each model at its own price", () => {
    const limit = costLimit(0.05, { prices });
    expect([limit.decide(spending(1000, "cheap")), limit.decide(spending(1000, "dear"))]).toEqual([
      undefined,
      stops("cost-limit"),
    ]);
  });

  test("throws for a model without a known price, unless it was not used", () => {
    expect(() => costLimit(0.05, { prices }).decide(spending(1e9, "unknown"))).toThrow('The model "unknown" has no');
    expect(costLimit(0.05, { prices }).decide(spending(0, "unknown"))).toBeUndefined();
  });

  test("knows the prices of common models", () => {
    expect(costLimit(1).decide(spending(1_000_000, "gpt-5"))).toEqual(stops("cost-limit"));
    expect(costLimit(1, { prices }).decide(spending(1_000_000, "gpt-5"))).toEqual(stops("cost-limit"));
  });

  test("uses the prices of its agent, after its own", () => {
    const ofAgent = { cheap: { input: 1e6, output: 1e6 }, other: { input: 1e6, output: 1e6 } };
    const limit = withAgentPrices({ ...costLimit(0.05, { prices }), name: "mine" }, ofAgent);
    expect(limit).toMatchObject({ name: "mine", isShared: true });
    expect([limit.decide(spending(1000, "cheap")), limit.decide(spending(1000, "other"))]).toEqual([
      undefined,
      stops("cost-limit"),
    ]);
  });

  test("is the only limit that changes with the prices of an agent", () => {
    const limit = tokenLimit(1);
    expect(withAgentPrices(limit, prices)).toBe(limit);
  });
});

describe("retry limit", () => {
  const wrong = buildStep({ isAnswer: false, correction: { reason: "output-mismatch", message: "no JSON" } });

  test("fails the run after more corrections in a row than it allows", () => {
    const decisions = [2, 3].map((count) => retryLimit(2).decide(buildState({ steps: Array(count).fill(wrong) })));
    expect(decisions).toEqual([undefined, stops("retry-limit", "failed")]);
  });

  test("quotes the last correction", () => {
    expect(retryLimit(0).decide(buildState({ steps: [wrong] }))).toMatchObject({
      message: "The model did not get it right in one try: no JSON",
    });
  });

  test("starts again from zero after a step without a correction", () => {
    const steps = [wrong, wrong, buildToolStep(), wrong];
    expect(retryLimit(2).decide(buildState({ steps }))).toBeUndefined();
  });
});

describe("every limit", () => {
  test("of tokens, time and cost also binds subagents", () => {
    const limits: Criterion[] = [tokenLimit(1), timeLimit(1), costLimit(1), deadline(1)];
    expect(limits.map((limit) => limit.isShared)).toEqual([true, true, true, true]);
  });

  test.for([
    ["maxSteps", () => stepLimit(0)],
    ["maxSteps", () => stepLimit(1.5)],
    ["maxTokens", () => tokenLimit(0)],
    ["maxMs", () => timeLimit(Number.NaN)],
    ["at", () => deadline(new Date("never"))],
    ["maxCost", () => costLimit(-1)],
    ["maxRetries", () => retryLimit(-1)],
    ["maxTokens", () => tokenLimit(undefined as never)],
    ["maxMs", () => timeLimit("1000" as never)],
    ["at", () => deadline(null as never)],
    ["prices", () => costLimit(1, { prices: 5 as never })],
  ] as const)("refuses a number that makes no sense: %s", ([name, make]) => {
    expect(make).toThrow(expect.objectContaining({ code: "invalid-argument" }));
    expect(make).toThrow(`"${name}" must be`);
  });

  test("refuses unknown options", () => {
    expect(() => costLimit(1, { price: {} } as never)).toThrow(
      'Unknown costLimit() option "price". Valid options: prices.',
    );
    expect(() => costLimit(1, null as never)).toThrow("The costLimit() options must be an object; found null.");
  });
});
