// The builder makes the same agents as the constructor, and never changes.
import { expect, test } from "vitest";
import { repeatedCall } from "../../src/doors/criteria.ts";
import { Agent, AgentBuilder, tokenLimit } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { echo, echoing, glance } from "../support/cast.ts";

/** A model that writes text and calls a tool in every reply, and never answers. */
const restless = () =>
  scriptedModel(({ index }) => ({
    text: `Working on ${index + 1}.`,
    toolCalls: [echoing(`${index}`)],
    usage: { inputTokens: 100, outputTokens: 20 },
  }));

bothWays("the builder and the constructor make the same agent", async ({ play }) => {
  const options = {
    tools: [echo],
    separateToolTrace: true,
    maxSteps: 4,
    stopWhen: [repeatedCall(3), tokenLimit(300)],
  };
  const built = AgentBuilder.base()
    .withModel(restless())
    .withTools(echo)
    .withSeparatedToolTrace()
    .withMaxSteps(4)
    .withStopWhen(repeatedCall(3))
    .withStopWhen(tokenLimit(300))
    .build();
  const [a, b] = [await play(new Agent({ model: restless(), ...options }), "Go"), await play(built, "Go")];
  expect(a.outcome).toEqual(b.outcome);
  expect({ text: a.text, usage: a.usage, agent: a.agent }).toEqual({ text: b.text, usage: b.usage, agent: b.agent });
  expect(glance(a.state.messages)).toEqual(glance(b.state.messages));
});

test("a builder is immutable: building on a shared base does not change it", () => {
  const base = AgentBuilder.base().withModel(scriptedModel([])).withName("base");
  base.withName("other").withTools(echo).build();
  expect(base.build().name).toBe("base");
});
