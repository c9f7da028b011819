import { expect, test } from "vitest";
import { scriptedModel } from "../../testing/scripted-model.ts";
import type { AgentOptions } from "../ports/agent-options.ts";
import { agentConfig } from "./agent-config.ts";

const model = scriptedModel([]);
const blocks = { name: "blocks", check: () => false };

test.for([
  [undefined, "An agent is made from options: new Agent({ model, … })."],
  [
    { model, inputGuardrails: [blocks, () => true] },
    '"inputGuardrails" must be a list of objects { name, check(subject) }; found a list.',
  ],
  [
    { model, outputGuardrails: blocks },
    '"outputGuardrails" must be a list of objects { name, check(subject) }; found object.',
  ],
  [{ model, processors: [{}] }, '"processors" must be a list of functions (state, next); found a list.'],
  [{ model, name: " " }, '"name" must be text; found " ".'],
  [{ model, maxParallelTools: 0 }, '"maxParallelTools" must be a number of at least 1; found 0.'],
] as const)("options that do not fit are refused when the agent is made: %j", ([options, sentence]) => {
  expect(() => agentConfig(options as unknown as AgentOptions<unknown>)).toThrow(sentence);
});
