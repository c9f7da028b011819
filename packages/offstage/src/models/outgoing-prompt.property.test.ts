// For any history, whole or growing: the prompt of each provider follows that provider's rules.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyHistories } from "../../test/support/generated-histories.ts";
import { system } from "../messages/makers.ts";
import { Messages } from "../messages/messages.ts";
import type { PromptMessage } from "./model.ts";
import { ModelInput } from "./model-input.ts";
import { promptMessage } from "./prompt.ts";
import { rulesOf } from "./provider-rules.ts";

const providers = [
  "google.generative-ai",
  "mistral.chat",
  "amazon-bedrock",
  "anthropic.messages",
  "openai.chat",
  "ollama",
];

interface NamedPart {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
}

/** The rules of the provider that a prompt breaks. */
function broken(prompt: readonly PromptMessage[], provider: string): string[] {
  const { callId, toolName, system: place, opening, afterResult } = rulesOf(provider);
  const roles = prompt.map(({ role }) => role);
  const begin = roles.findIndex((role) => role !== "system");
  const follows = (before: string, after: string) => roles.some((role, i) => role === after && roles[i - 1] === before);
  const parts = prompt.flatMap(({ content }): readonly NamedPart[] => (typeof content === "string" ? [] : content));
  const named = parts.filter(({ type }) => type === "tool-call" || type === "tool-result");
  const rules: Record<string, boolean> = {
    "two tool messages in a row": follows("tool", "tool"),
    "a system message in the middle": place === "front" && begin !== -1 && roles.lastIndexOf("system") > begin,
    "an assistant message in front": opening !== undefined && roles[begin] === "assistant",
    "a user message after a result": afterResult !== undefined && follows("tool", "user"),
    "an invalid id": named.some(({ toolCallId = "" }) => !callId.test(toolCallId)),
    "an invalid name": named.some(({ toolName: name = "" }) => !toolName.test(name)),
    "a message without content": prompt.some(({ role, content }) => role === "user" && content.length === 0),
    "calls that lost their results": unpaired(prompt),
  };
  return Object.keys(rules).filter((rule) => rules[rule]);
}

function unpaired(prompt: readonly PromptMessage[]): boolean {
  return prompt.some(({ role, content }, index) => {
    if (role !== "assistant") return false;
    const calls = content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    const next = prompt[index + 1];
    const results = next?.role === "tool" ? next.content.map(({ toolCallId }) => toolCallId) : [];
    return calls.toSorted().join() !== results.toSorted().join();
  });
}

describe.each(providers)("%s", (provider) => {
  test("any history becomes a prompt that the provider accepts, and grows as if it were made at once", () => {
    const property = fc.property(anyHistories, anyHistories, (first, second) => {
      const input = new ModelInput(promptMessage, provider);
      const front = Messages.of(system("Be brief."));
      const begun = Messages.from(first);
      input.promptOf([front, begun]);
      const grown = begun.append(second);
      const prompt = input.promptOf([front, grown]);
      expect(broken(prompt, provider)).toEqual([]);
      expect(prompt).toEqual(new ModelInput(promptMessage, provider).promptOf([front, grown]));
    });
    fc.assert(property, { numRuns: 200 });
  });
});
