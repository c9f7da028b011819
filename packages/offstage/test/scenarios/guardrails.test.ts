// Guardrails can block input, output, tool calls and tool results. Every trip is reported.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { GuardrailVerdict } from "../../src/agent/ports/guardrails.ts";
import { Agent, type AgentOptions } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";

const secret = "xyzzy";

function agentOf(script: readonly ScriptEntry[], options: Partial<AgentOptions<string>> = {}) {
  const model = scriptedModel(script);
  return { agent: new Agent({ model, tools: [echo], ...options }), model };
}

const noSecrets = { name: "no-secrets", check: ({ text }: { text: string }) => !text.includes(secret) };

describe("input", () => {
  bothWays("that is blocked reaches neither the model nor the conversation", async ({ play }) => {
    const { agent, model } = agentOf(["Never."], { inputGuardrails: [noSecrets] });
    const result = await play(agent, `The word is ${secret}`);
    expect(result).toMatchObject({
      output: "",
      outcome: { status: "stopped", reason: "guardrail", message: 'Blocked by the guardrail "no-secrets".' },
      guardrailTrips: [{ guardrail: "no-secrets", stage: "input" }],
    });
    expect({ calls: model.callCount, messages: result.state.messages.length }).toEqual({ calls: 0, messages: 0 });
  });

  bothWays("that passes is answered, and no trip is reported", async ({ play }) => {
    const { agent } = agentOf(["Hi."], { inputGuardrails: [noSecrets, { name: "nothing", check: () => undefined }] });
    expect(await play(agent, "Hello")).toMatchObject({ output: "Hi.", guardrailTrips: [] });
  });

  bothWays("is checked by all guardrails, and every trip is reported", async ({ play }) => {
    const inputGuardrails = [
      { name: "a", check: () => "Not like that." },
      { name: "b", check: async () => false },
      { name: "c", check: (): GuardrailVerdict => ({ blocked: true, message: "No.", info: { score: 0.9 } }) },
      { name: "d", check: () => true },
      { name: "e", check: (): GuardrailVerdict => ({ blocked: false, message: "Fine." }) },
    ];
    const trips: unknown[] = [];
    const hooks = { onGuardrailTrip: ({ trip }: { trip: unknown }) => trips.push(trip) };
    const { guardrailTrips, outcome } = await play(agentOf([], { inputGuardrails }).agent, "Go", { hooks });
    expect(guardrailTrips).toEqual([
      { guardrail: "a", stage: "input", message: "Not like that." },
      { guardrail: "b", stage: "input", message: 'Blocked by the guardrail "b".' },
      { guardrail: "c", stage: "input", message: "No.", info: { score: 0.9 } },
    ]);
    expect(trips).toEqual(guardrailTrips);
    expect(outcome.message).toBe("Not like that.");
  });
});

describe("output", () => {
  for (const separateToolTrace of [true, false]) {
    const mode = separateToolTrace ? "tool trace separated" : "tool trace in the messages";

    bothWays(`that is blocked appears nowhere in the result, ${mode}`, async ({ play }) => {
      const { agent } = agentOf([calls(echoing("a")), { reasoning: `Hm, ${secret}.`, text: `It is ${secret}.` }], {
        separateToolTrace,
        outputGuardrails: [noSecrets],
      });
      const result = await play(agent, "Go");
      expect(result.outcome).toMatchObject({ status: "stopped", reason: "guardrail" });
      expect(result.guardrailTrips).toMatchObject([{ guardrail: "no-secrets", stage: "output" }]);
      expect({ output: result.output, text: result.text }).toEqual({ output: "", text: "" });
      expect(JSON.stringify([...result.state.messages])).not.toContain(secret);
      expect(JSON.stringify(result.messages.all())).not.toContain(secret);
      expect(JSON.stringify(agent.getMessages())).not.toContain(secret);
    });

    bothWays(`is guarded even if a limit leaves only partial text, ${mode}`, async ({ play }) => {
      const { agent } = agentOf([{ text: `It is ${secret}, let me check.`, toolCalls: [echoing("a")] }], {
        separateToolTrace,
        maxSteps: 1,
        outputGuardrails: [noSecrets],
      });
      const result = await play(agent, "Go");
      expect(result).toMatchObject({ output: "", text: "", outcome: { reason: "guardrail" } });
      if (separateToolTrace) expect(glance(result.state.messages)).toEqual(["user: Go"]);
    });
  }

  bothWays("that is structured reaches the guardrail as the validated value", async ({ play }) => {
    const model = scriptedModel(['{"n": 7}']);
    const agent = new Agent({
      model,
      output: z.object({ n: z.number() }),
      outputGuardrails: [{ name: "small", check: ({ output }) => (output as { n: number }).n < 5 }],
    });
    const result = await play(agent as Agent<unknown>, "Go");
    expect(result).toMatchObject({ output: undefined, outcome: { reason: "guardrail" } });
  });

  test("that was being streamed when the reader left is not kept unguarded", async () => {
    const { agent } = agentOf([`One ${secret} three.`], { outputGuardrails: [noSecrets] });
    for await (const event of agent.stream("Go"))
      if (event.type === "text-delta" && event.delta.includes(secret)) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(JSON.stringify(agent.getMessages())).not.toContain(secret);
  });
});

describe("tools", () => {
  bothWays("a blocked call is not run, and the model is told why", async ({ play }) => {
    const { agent, model } = agentOf([calls(echoing(secret), echoing("fine")), "Ok."], {
      toolInputGuardrails: [
        { name: "gate", check: ({ input }) => (JSON.stringify(input).includes(secret) ? "Not that word." : undefined) },
      ],
    });
    const result = await play(agent, "Go");
    const [call] = result.steps[0]?.toolCalls ?? [];
    expect(result.steps[0]?.toolResults).toMatchObject([
      { content: "Not that word.", isError: true },
      { content: "echo fine", isError: false },
    ]);
    expect(result.guardrailTrips).toEqual([
      { guardrail: "gate", stage: "toolInput", message: "Not that word.", toolCallId: call?.toolCallId },
    ]);
    expect(glance(model.requests[1]?.messages ?? [])).toContain("tool: Not that word.");
    expect(result.outcome.status).toBe("completed");
  });

  bothWays("a blocked result reaches neither the model nor any message", async ({ play }) => {
    const { agent, model } = agentOf([calls(echoing("a")), "Ok."], {
      toolOutputGuardrails: [{ name: "leak", check: ({ result }) => !String(result.output).includes("echo") }],
    });
    const result = await play(agent, "Go");
    expect(result.steps[0]?.toolResults[0]).toMatchObject({
      isError: true,
      content: 'Blocked by the guardrail "leak".',
    });
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("echo a");
    expect(JSON.stringify(result.messages.all())).not.toContain("echo a");
    expect(result.guardrailTrips).toMatchObject([{ stage: "toolOutput" }]);
  });
});

describe("a guardrail that throws fails the run and lets nothing through", () => {
  const throws = {
    name: "fragile",
    check: (): never => {
      throw new Error("no network");
    },
  };
  const cases: readonly [string, Partial<AgentOptions<string>>][] = [
    ["input", { inputGuardrails: [throws] }],
    ["output", { outputGuardrails: [throws] }],
    ["tool input", { toolInputGuardrails: [throws] }],
    ["tool output", { toolOutputGuardrails: [throws] }],
  ];

  for (const [stage, options] of cases) {
    bothWays(stage, async ({ fail }) => {
      const script = stage.startsWith("tool") ? [calls(echoing(secret))] : [`It is ${secret}.`];
      const { agent } = agentOf(script, { separateToolTrace: true, ...options });
      const error = await fail(agent, "Go");
      expect(error).toMatchObject({ code: "guardrail-failed", cause: { message: "no network" } });
      expect(error.message).toContain('"fragile"');
      expect({
        text: error.result.text,
        said: JSON.stringify([...error.result.state.messages]).includes(secret),
      }).toEqual({ text: "", said: false });
    });
  }
});

bothWays("guardrails receive the context, the signal, the run id and the name of the agent", async ({ play }) => {
  const seen: unknown[] = [];
  const look = {
    name: "look",
    check: (
      _: unknown,
      {
        context,
        signal,
        runId,
        agent,
      }: { context: { get(key: string): unknown }; signal: AbortSignal; runId: string; agent: string },
    ) => {
      seen.push([context.get("user"), signal.aborted, typeof runId, agent]);
      return true;
    },
  };
  const { agent } = agentOf([calls(echoing("a")), "Ok."], {
    name: "guarded",
    inputGuardrails: [look],
    outputGuardrails: [look],
    toolInputGuardrails: [look],
    toolOutputGuardrails: [look],
  });
  await play(agent, "Go", { context: { user: "ada" } });
  expect(seen).toEqual(Array.from({ length: 4 }, () => ["ada", false, "string", "guarded"]));
});

describe("a guardrail's thenable", () => {
  const check = (then: (done: (verdict: boolean) => void) => void) => ({
    name: "foreign",
    check: () => ({ then }) as never,
  });

  test("is awaited, and its verdict counts", async () => {
    const { agent } = agentOf(["Never."], { inputGuardrails: [check((done) => void setTimeout(done, 1, false))] });
    expect(await agent.run("Hello")).toMatchObject({ outcome: { reason: "guardrail" } });
    const { agent: open } = agentOf(["Hi."], { inputGuardrails: [check((done) => void setTimeout(done, 1, true))] });
    expect(await open.run("Hello")).toMatchObject({ output: "Hi." });
  });

  test("that never settles does not delay an abort", async () => {
    const { agent } = agentOf(["Never."], { inputGuardrails: [check(() => undefined)] });
    await expect(agent.run("Hello", { signal: AbortSignal.timeout(20) })).rejects.toThrow("timeout");
  });
});
