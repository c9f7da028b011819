import { describe, expect, test } from "vitest";
import { buildState, buildStep, buildToolStep } from "../../../test/support/build-state.ts";
import type { Step } from "../step.ts";
import { finishReason, repeatedCall, responseContent, toolCallPresence } from "./replies.ts";
import { selfCritic } from "./self-critic.ts";

const after = (...steps: readonly Step[]) => buildState({ steps });
const answering = (text: string) => after(buildStep({ text }));
const sentBack = buildStep({ isAnswer: false });

describe("tool-call presence", () => {
  test("requests to go on while the model is owed results", () => {
    expect(toolCallPresence().decide(after(buildToolStep()))).toMatchObject({ decision: "continue" });
  });

  test("requests to go on after a correction", () => {
    const wrong = buildStep({ isAnswer: false, correction: { reason: "output-mismatch", message: "no" } });
    expect(toolCallPresence().decide(after(wrong))).toMatchObject({ decision: "continue" });
  });

  test("allows to stop at an answer", () => {
    expect(toolCallPresence().decide(answering("done"))).toMatchObject({ decision: "may-stop", reason: "answered" });
  });

  test("has no opinion before the first step", () => {
    expect(toolCallPresence().decide(buildState())).toBeUndefined();
  });
});

describe("finish reason", () => {
  const finished = (reason: string) => after(buildStep({ finishReason: reason }));

  test.for(["length", "content-filter", "error"])("%s stops a run unless told otherwise", (reason) => {
    expect(finishReason().decide(finished(reason))).toMatchObject({
      decision: "stop",
      message: `The model finished with "${reason}".`,
    });
  });

  test("any other has no effect", () => {
    expect(finishReason().decide(finished("stop"))).toBeUndefined();
  });

  test("the reasons can be chosen", () => {
    const chosen = finishReason("stop");
    expect([chosen.decide(finished("stop")), chosen.decide(finished("length"))]).toEqual([
      expect.objectContaining({ decision: "stop" }),
      undefined,
    ]);
  });
});

describe("response content", () => {
  test("goes on until the answer passes, by pattern or by function", () => {
    const criteria = [responseContent(/DONE/g), responseContent((text) => text.includes("DONE"))];
    for (const criterion of criteria) {
      const said = ["not yet", "DONE", "DONE"].map((text) => criterion.decide(answering(text)));
      expect(said).toEqual([expect.objectContaining({ decision: "continue" }), undefined, undefined]);
    }
  });

  test("tells the model what is missing", () => {
    expect(responseContent(/x/, { feedback: "Say x." }).decide(answering("y"))).toMatchObject({ feedback: "Say x." });
  });

  test("has no opinion of a step that is no answer", () => {
    expect(responseContent(() => false).decide(after(buildToolStep()))).toBeUndefined();
  });
});

describe("repeated call", () => {
  const same = buildToolStep([{ input: { q: 1 } }]);

  test("stops a run that makes the very same call three times in a row", () => {
    expect([after(same, same), after(same, same, same)].map((state) => repeatedCall().decide(state))).toEqual([
      undefined,
      expect.objectContaining({ decision: "stop", reason: "repeated-call" }),
    ]);
  });

  test("shows the call", () => {
    expect(repeatedCall(2).decide(after(same, same))).toMatchObject({
      message: 'The model made the same call 2 times in a row: search({"q":1})',
    });
  });

  test("another input, another tool or a call in between is no repetition", () => {
    const others = [buildToolStep([{ input: { q: 2 } }]), buildToolStep([{ name: "fetch", input: { q: 1 } }])];
    for (const other of others) expect(repeatedCall().decide(after(same, other, same))).toBeUndefined();
  });

  test("answers that repeat are none", () => {
    expect(repeatedCall(2).decide(after(buildStep(), buildStep()))).toBeUndefined();
  });

  test.for([1, 2.5, 0])("%d times is refused", (times) => {
    expect(() => repeatedCall(times)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  });
});

describe("self-critic", () => {
  const strict = selfCritic(() => ({ accept: false, feedback: "Cite a source." }));

  test("sends an answer back with the critic's feedback", async () => {
    expect(await strict.decide(answering("so"))).toEqual({
      decision: "continue",
      reason: "self-critic",
      message: "The critic sent the answer back.",
      feedback: "Cite a source.",
    });
  });

  test("has no opinion of an answer that is accepted", async () => {
    expect(await selfCritic(async () => ({ accept: true })).decide(answering("so"))).toBeUndefined();
  });

  test("is not asked about a step that is no answer", async () => {
    const critic = selfCritic(() => {
      throw new Error("asked");
    });
    expect(await critic.decide(after(buildToolStep()))).toBeUndefined();
  });

  test("sends back twice unless told otherwise, tool steps not counted", async () => {
    expect(await strict.decide(after(sentBack, buildToolStep(), buildStep()))).toBeDefined();
    expect(await strict.decide(after(sentBack, sentBack, buildStep()))).toBeUndefined();
    const once = selfCritic(() => ({ accept: false, feedback: "x" }), { maxRounds: 1 });
    expect(await once.decide(after(sentBack, buildStep()))).toBeUndefined();
  });

  test("sees the answer and the state", async () => {
    const seen: unknown[] = [];
    const state = answering("so");
    await selfCritic((...about) => {
      seen.push(...about);
      return { accept: true };
    }).decide(state);
    expect(seen).toEqual(["so", state]);
  });
});
