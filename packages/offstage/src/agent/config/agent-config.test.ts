import { expect, test } from "vitest";
import { scriptedModel } from "../../testing/scripted-model.ts";
import type { AgentOptions } from "../ports/agent-options.ts";
import { agentConfig } from "./agent-config.ts";

const model = scriptedModel([]);
const blocks = { name: "blocks", check: () => false };

test.for([
  [undefined, "The agent options are missing. Use new Agent({ model, … })."],
  [
    { model, inputGuardrails: [blocks, () => true] },
    '"inputGuardrails" must be a list of objects { name, check(subject) }; found a list.',
  ],
  [
    { model, outputGuardrails: blocks },
    '"outputGuardrails" must be a list of objects { name, check(subject) }; found object.',
  ],
  [{ model, processors: [{}] }, '"processors" must be a list of functions (state, next); found a list.'],
  [{ model, name: " " }, '"name" must be text that is not blank; found " ".'],
  [{ model, maxParallelTools: 0 }, '"maxParallelTools" must be a number of at least 1; found 0.'],
] as const)("unfit options are refused when the agent is created: %j", ([options, sentence]) => {
  expect(() => agentConfig(options as unknown as AgentOptions<unknown>)).toThrow(sentence);
});
