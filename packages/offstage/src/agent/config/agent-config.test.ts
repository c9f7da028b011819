import { expect, test } from "vitest";
import { scriptedModel } from "../../testing/scripted-model.ts";
import type { AgentOptions } from "../ports/agent-options.ts";
import { agentConfig } from "./agent-config.ts";

const model = scriptedModel([]);
const blocks = { name: "blocks", check: () => false };

test.for([
  [undefined, "An agent is made from options: new Agent({ model, … })."],
  [{ model, inputGuardrails: [blocks, () => true] }, '"inputGuardrails[1]" must be an object { name, check(subject) }'],
  [{ model, outputGuardrails: blocks }, '"outputGuardrails" must be a list.'],
  [{ model, processors: [{}] }, '"processors[0]" must be a function (state, next); found object.'],
  [{ model, name: " " }, '"name" must be text; found " ".'],
  [{ model, maxParallelTools: 0 }, '"maxParallelTools" must be a number from 1; found 0.'],
] as const)("options that do not fit are refused when the agent is made: %j", ([options, sentence]) => {
  expect(() => agentConfig(options as unknown as AgentOptions<unknown>)).toThrow(sentence);
});
