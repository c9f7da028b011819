import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { anyHistories, validHistories } from "../../test/support/generated-histories.ts";
import { providerViolations } from "../../test/support/provider-violations.ts";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { repairMessages } from "../messages/repair.ts";
import type { PromptMessage } from "./model.ts";
import { ModelInput } from "./model-input.ts";
import { OutgoingPrompt } from "./outgoing-prompt.ts";
import { promptMessage, promptMessages } from "./prompt.ts";
import { rulesOf } from "./provider-rules.ts";

const call = (id: string): Message => assistant(null, { toolCalls: [toolCall(id, "search")] });
const result = (id: string): Message => toolResult(id, `result of ${id}`);

/** The prompt of sections, built from scratch. */
function fromScratch(sections: readonly Messages[]): PromptMessage[] {
  const names = new Map<string, string>();
  const outgoing = new OutgoingPrompt(rulesOf(""));
  const prompts = repairMessages(sections.flatMap((section) => section.toArray())).map((message) => {
    if (message.role === "assistant")
      for (const { id, function: called } of message.tool_calls ?? []) names.set(id, called.name);
    return promptMessage(message, (id) => names.get(id) ?? "unknown_tool");
  });
  outgoing.add(prompts.map((prompt) => ({ prompt })));
  return outgoing.messages;
}

/** One change of one section. */
interface Change {
  readonly kind: "append" | "replace" | "clear" | "cut" | "same";
  readonly section: number;
  readonly messages: readonly Message[];
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("append", "append", "append", "replace", "clear", "cut", "same"),
  section: fc.nat(2),
  messages: fc.oneof(anyHistories, validHistories).map((list) => list.slice(0, 8)),
});

function apply(sections: readonly Messages[], { kind, section, messages }: Change): readonly Messages[] {
  const old = sections[section] as Messages;
  const changed = {
    append: () => old.append(messages),
    replace: () => Messages.from(messages),
    clear: () => Messages.empty(),
    cut: () => old.slice(1),
    same: () => old,
  };
  return sections.with(section, changed[kind]());
}

const nothing: readonly Messages[] = [Messages.empty(), Messages.empty(), Messages.empty()];

describe("after any change of the sections", () => {
  test("the prompt equals one that is built from scratch", () => {
    const property = fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const input = new ModelInput();
      let sections = nothing;
      for (const each of changes) {
        sections = apply(sections, each);
        expect(input.promptOf(sections)).toEqual(fromScratch(sections));
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  test("the prompt is valid for every provider", () => {
    const property = fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
      const input = new ModelInput();
      let sections = nothing;
      for (const each of changes) {
        sections = apply(sections, each);
        expect(providerViolations(promptMessages(input.promptOf(sections)))).toEqual([]);
      }
    });
    fc.assert(property, { numRuns: 300 });
  });
});

describe("a message is converted once", () => {
  /** An input that notes each conversion. */
  const counting = () => {
    const converted: Message[] = [];
    const input = new ModelInput((message, toolName) => {
      converted.push(message);
      return promptMessage(message, toolName);
    });
    return { input, converted };
  };

  test("while the last section grows", () => {
    const { input, converted } = counting();
    let buffer = Messages.empty();
    const messages = Messages.of(user("hi"));
    for (let i = 0; i < 100; i++) {
      input.promptOf([messages, buffer]);
      buffer = buffer.append([call(`c${i}`), result(`c${i}`)]);
    }
    expect(converted).toHaveLength(1 + 2 * 99);
  });

  test("while an earlier section grows and the sections after it are empty", () => {
    const { input, converted } = counting();
    let messages = Messages.of(user("hi"));
    for (let i = 0; i < 10; i++) {
      input.promptOf([messages, Messages.empty()]);
      messages = messages.append(user(`${i}`));
    }
    expect(converted).toHaveLength(10);
  });

  test("after a history that had to be repaired", () => {
    const { input, converted } = counting();
    let messages = Messages.of(user("hi"), call("c1"), user("still there?"));
    input.promptOf([messages]);
    const atFirst = converted.length;
    messages = messages.append(assistant("yes"));
    input.promptOf([messages]);
    expect(converted.length - atFirst).toBe(1);
  });
});

describe("a prompt is the caller's to keep", () => {
  test("later calls do not change it", () => {
    const input = new ModelInput();
    const messages = Messages.of(user("hi"));
    const first = input.promptOf([messages]);
    input.promptOf([messages.append(user("more"))]);
    expect(first).toHaveLength(1);
  });

  test("changing it does not change later prompts", () => {
    const input = new ModelInput();
    const messages = Messages.of(user("hi"));
    input.promptOf([messages]).pop();
    expect(input.promptOf([messages])).toHaveLength(1);
  });
});

test("a prompt of more than 10,000 messages is not copied, and is rebuilt if the caller shortened it", () => {
  const input = new ModelInput();
  const messages = Messages.from(Array.from({ length: 10_001 }, () => user("hi")));
  const prompt = input.promptOf([messages]);
  expect(input.promptOf([messages])).toBe(prompt);
  prompt.pop();
  expect(input.promptOf([messages])).toHaveLength(10_001);
});

describe("parts that no provider can read", () => {
  const data = { type: "data-weather", data: {} };

  test("are left out with one warning per run", () => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const input = new ModelInput();
    const messages = Messages.of(user([data, { type: "text", text: "hi" }]));
    expect(input.promptOf([messages])).toEqual([{ role: "user", content: [{ type: "text", text: "hi" }] }]);
    input.promptOf([messages.append(user([data]))]);
    expect(emitWarning).toHaveBeenCalledOnce();
    expect(emitWarning.mock.calls[0]?.[0]).toContain('"data-weather"');
    emitWarning.mockRestore();
  });
});

describe("call ids in use", () => {
  test("an id is in use once a prompt has a call with it", () => {
    const input = new ModelInput();
    expect(input.usesCallId("c1")).toBe(false);
    input.promptOf([Messages.of(call("c1"), result("c1"))]);
    expect([input.usesCallId("c1"), input.usesCallId("c2")]).toEqual([true, false]);
  });

  test("an id that repair created is in use", () => {
    const input = new ModelInput();
    input.promptOf([Messages.of(call(""), result(""))]);
    expect(input.usesCallId("rep000001")).toBe(true);
  });

  test("an id stays in use after its message left the prompt, so that no decision applies to another call", () => {
    const input = new ModelInput();
    input.promptOf([Messages.of(call("c1"), result("c1"))]);
    input.trust(toolCall("c2", "search"), {});
    for (let n = 0; n < 3; n++) input.promptOf([Messages.of(user(`hi ${n}`))]);
    expect(["c1", "c2", "c3"].map((id) => input.usesCallId(id))).toEqual([true, true, false]);
  });
});

test("sections become one prompt, in their order", () => {
  const prompt = new ModelInput().promptOf([Messages.of(system("s")), Messages.empty(), Messages.of(user("hi"))]);
  expect(prompt.map(({ role }) => role)).toEqual(["system", "user"]);
});

test("a tool result without a name gets the tool name of its call", () => {
  const prompt = new ModelInput().promptOf([Messages.of(call("c1"), result("c1"))]);
  expect(prompt[1]?.content).toMatchObject([{ toolName: "search" }]);
});

test("repairing a prompt does not change the stored messages", () => {
  const messages = Messages.of(user("hi"), call(""), result("c9"));
  const before = JSON.stringify(messages);
  new ModelInput().promptOf([messages]);
  expect(JSON.stringify(messages)).toBe(before);
});
