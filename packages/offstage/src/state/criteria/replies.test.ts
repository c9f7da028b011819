import { describe, expect, test } from "vitest";
import { buildState, buildStep, buildToolStep } from "../../../test/support/build-state.ts";
import { toolCallPresence } from "../criterion.ts";
import type { Step } from "../step.ts";
import { finishReason, repeatedCall, responseContent } from "./replies.ts";
import { selfCritic } from "./self-critic.ts";

const after = (...steps: readonly Step[]) => buildState({ steps });
const answering = (text: string) => after(buildStep({ text }));
const sentBack = buildStep({ isAnswer: false });

describe("tool-call presence", () => {
  test("votes to continue while the model waits for results", () => {
    expect(toolCallPresence().decide(after(buildToolStep()))).toMatchObject({ decision: "continue" });
  });

  test("votes to continue after a correction", () => {
    const wrong = buildStep({ isAnswer: false, correction: { reason: "output-mismatch", message: "no" } });
    expect(toolCallPresence().decide(after(wrong))).toMatchObject({ decision: "continue" });
  });

  test("lets the run stop at an answer", () => {
    expect(toolCallPresence().decide(answering("done"))).toMatchObject({ decision: "may-stop", reason: "answered" });
  });

  test("has no opinion before the first step", () => {
    expect(toolCallPresence().decide(buildState())).toBeUndefined();
  });
});

describe("finish reason", () => {
  const finished = (reason: string) => after(buildStep({ finishReason: reason }));

  test.for(["length", "content-filter", "error"])("%s stops a run by default", (reason) => {
    expect(finishReason().decide(finished(reason))).toMatchObject({
      decision: "stop",
      message: `The model finished with "${reason}".`,
    });
  });

  test("any other reason has no effect", () => {
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
  test("continues until the answer passes a pattern, a function or an async function", async () => {
    const isDone = (text: string) => text.includes("DONE");
    const criteria = [/DONE/g, isDone, async (text: string) => isDone(text)].map((test) => responseContent(test));
    for (const criterion of criteria) {
      const said = await Promise.all(["not yet", "DONE", "DONE"].map((text) => criterion.decide(answering(text))));
      expect(said).toEqual([expect.objectContaining({ decision: "continue" }), undefined, undefined]);
    }
  });

  test("tells the model what is missing", async () => {
    const { decide } = responseContent(/x/, { feedback: "Say x." });
    expect(await decide(answering("y"))).toMatchObject({ feedback: "Say x." });
  });

  test("has no opinion about a step that is not an answer", async () => {
    expect(await responseContent(() => false).decide(after(buildToolStep()))).toBeUndefined();
  });
});

describe("repeated call", () => {
  const same = buildToolStep([{ input: { q: 1 } }]);

  test("stops a run that makes the same call three times in a row", () => {
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

  test("another input, another tool or a call in between is not a repetition", () => {
    const others = [buildToolStep([{ input: { q: 2 } }]), buildToolStep([{ name: "fetch", input: { q: 1 } }])];
    for (const other of others) expect(repeatedCall().decide(after(same, other, same))).toBeUndefined();
  });

  test("repeated answers do not count", () => {
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

  test("has no opinion about an accepted answer", async () => {
    expect(await selfCritic(async () => ({ accept: true })).decide(answering("so"))).toBeUndefined();
  });

  test("is not asked about a step that is not an answer", async () => {
    const critic = selfCritic(() => {
      throw new Error("asked");
    });
    expect(await critic.decide(after(buildToolStep()))).toBeUndefined();
  });

  test("sends an answer back at most twice by default; tool steps do not count", async () => {
    expect(await strict.decide(after(sentBack, buildToolStep(), buildStep()))).toBeDefined();
    expect(await strict.decide(after(sentBack, sentBack, buildStep()))).toBeUndefined();
    const once = selfCritic(() => ({ accept: false, feedback: "x" }), { maxRounds: 1 });
    expect(await once.decide(after(sentBack, buildStep()))).toBeUndefined();
  });

  test("is given the answer and the state", async () => {
    const seen: unknown[] = [];
    const state = answering("so");
    await selfCritic((...about) => {
      seen.push(...about);
      return { accept: true };
    }).decide(state);
    expect(seen).toEqual(["so", state]);
  });
});

test.for([
  ["a test that is text", () => responseContent("DONE" as never), '"test" must be a regular expression or a function'],
  ["no test", () => responseContent(undefined as never), '"test" must be a regular expression or a function'],
  ["an unknown option", () => responseContent(/x/, { say: "x" } as never), 'Unknown responseContent() option "say".'],
  ["a finish reason that is a number", () => finishReason(5 as never), '"reason" must be text; found 5.'],
  ["no critic", () => selfCritic(undefined as never), '"critic" must be a function; found undefined.'],
  ["an unknown option of a critic", () => selfCritic(() => ({ accept: true }), { rounds: 1 } as never), '"rounds"'],
] as const)("%s is refused", ([, make, says]) => {
  expect(make).toThrow(expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(says) }));
});

test("a critic that returns nothing is refused with a sentence", async () => {
  const decide = async () => selfCritic(() => undefined as never).decide(answering("so"));
  await expect(decide).rejects.toThrow(
    '"critique" must be { accept: true } or { accept: false, feedback }; found undefined.',
  );
});
