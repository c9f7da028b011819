import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "./makers.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "./message.ts";
import { repairMessages } from "./repair.ts";

const calling = (...calls: readonly ToolCall[]): AssistantMessage => assistant(null, { toolCalls: calls });
const call = (id: string, name = "search"): ToolCall => toolCall(id, name, { q: id });
const result = (id: string): ToolMessage => toolResult(id, `result of ${id}`, { name: "search" });
const wild = (value: unknown): Message => value as Message;

/** Roles and ids of a list: `a(c1 c2)` calls, `t(c1)` answers. */
const outline = (list: readonly Message[]): string =>
  list
    .map((message) => {
      if (message.role === "tool") return `t(${message.tool_call_id})`;
      const calls = message.role === "assistant" ? message.tool_calls : undefined;
      return calls ? `a(${calls.map(({ id }) => id).join(" ")})` : message.role[0];
    })
    .join(" ");

describe("each tool result follows the call it answers", () => {
  test("a result that comes later is moved behind its call", () => {
    const list = [calling(call("c1")), user("and?"), result("c1")];
    expect(outline(repairMessages(list))).toBe("a(c1) t(c1) u");
  });

  test("a result that comes before its call is moved behind it", () => {
    expect(repairMessages([result("c1"), user("hi"), calling(call("c1"))])).toEqual([
      user("hi"),
      calling(call("c1")),
      result("c1"),
    ]);
  });

  test("results in another order than their calls stay in it", () => {
    const list = [calling(call("c1"), call("c2")), result("c2"), result("c1")];
    expect(repairMessages(list)).toBe(list);
  });

  test("a second result of the same call is dropped", () => {
    const list = [calling(call("c1")), result("c1"), toolResult("c1", "again"), user("hi")];
    expect(repairMessages(list)).toEqual([calling(call("c1")), result("c1"), user("hi")]);
  });
});

describe("an unanswered call gets a synthetic result saying it was interrupted", () => {
  test("at the end of the list", () => {
    const [, synthetic] = repairMessages([calling(call("c1"))]);
    expect(synthetic).toMatchObject({ role: "tool", tool_call_id: "c1", name: "search" });
    expect(synthetic?.content).toContain("interrupted");
  });

  test("beside a call that was answered, behind its result", () => {
    const list = [calling(call("c1"), call("c2")), result("c2"), user("hi")];
    expect(outline(repairMessages(list))).toBe("a(c1 c2) t(c2) t(c1) u");
  });

  test("the synthetic result is marked as an interrupted, repaired error", () => {
    const [, synthetic] = repairMessages([calling(call("c1"))]);
    expect(synthetic?.metadata).toEqual({ isError: true, interrupted: true, repaired: "result" });
  });
});

describe("an orphan result is dropped from the input", () => {
  test("an orphan result alone leaves an empty list", () => {
    expect(repairMessages([result("c1")])).toEqual([]);
  });

  test("an orphan result in front of a cut conversation is dropped", () => {
    const list = [result("c0"), assistant("so"), user("hi")];
    expect(repairMessages(list)).toEqual([assistant("so"), user("hi")]);
  });

  test("the list it is dropped from still has it", () => {
    const list = [user("hi"), result("c1")];
    repairMessages(list);
    expect(list).toEqual([user("hi"), result("c1")]);
  });
});

describe("empty or duplicated call ids are re-minted in pairs", () => {
  test("an empty id and its result get the same new one", () => {
    expect(outline(repairMessages([calling(call("")), result("")]))).toBe("a(rep000001) t(rep000001)");
  });

  test("a missing id counts as an empty one", () => {
    const list = [
      wild({ role: "assistant", content: null, tool_calls: [{ type: "function", function: call("x").function }] }),
      wild({ role: "tool", content: "found" }),
    ];
    const repaired = repairMessages(list);
    expect(outline(repaired)).toBe("a(rep000001) t(rep000001)");
    expect(repaired[1]?.content).toBe("found");
  });

  test("a duplicated id in one message pairs its results in call order", () => {
    const list = [calling(call("c1"), call("c1")), toolResult("c1", "first"), toolResult("c1", "second")];
    const repaired = repairMessages(list);
    expect(outline(repaired)).toBe("a(c1 rep000001) t(c1) t(rep000001)");
    expect(repaired.map((message) => message.content)).toEqual([null, "first", "second"]);
  });

  test("an id that a later turn uses again is new there, and the first one keeps it", () => {
    const list = [calling(call("c1")), toolResult("c1", "old"), user("more"), calling(call("c1")), result("c1")];
    expect(outline(repairMessages(list))).toBe("a(c1) t(c1) u a(rep000001) t(rep000001)");
  });

  test("the same message object twice becomes two calls with two results", () => {
    const twice = calling(call("c1"));
    const repaired = repairMessages([twice, result("c1"), twice, result("c1")]);
    expect(outline(repaired)).toBe("a(c1) t(c1) a(rep000001) t(rep000001)");
  });

  test("a result answers the nearest call before it that has its id", () => {
    const list = [calling(call("c1")), user("stop"), calling(call("c1")), toolResult("c1", "the second's")];
    const repaired = repairMessages(list);
    expect(outline(repaired)).toBe("a(c1) t(c1) u a(rep000001) t(rep000001)");
    expect(repaired[1]?.content).toContain("interrupted");
    expect(repaired[4]?.content).toBe("the second's");
  });

  test("a further result with that id answers the call before", () => {
    const list = [calling(call("c1")), calling(call("c1")), toolResult("c1", "near"), toolResult("c1", "far")];
    const contents = repairMessages(list).map((message) => message.content);
    expect(contents).toEqual([null, "far", null, "near"]);
  });

  test("a new id never collides with one that is in use", () => {
    const list = [calling(call(""), call("rep000001")), result(""), result("rep000001")];
    expect(outline(repairMessages(list))).toContain("a(rep000002 rep000001)");
  });

  test("both halves of the pair are marked", () => {
    const repaired = repairMessages([calling(call("")), result("")]);
    expect(repaired.map((message) => message.metadata?.repaired)).toEqual(["tool_calls", "tool_call_id"]);
  });
});

describe("unparseable arguments become {} with an error result", () => {
  const broken = (text: unknown) =>
    calling({ id: "c1", type: "function", function: { name: "search", arguments: text as string } });

  test.for(['{"q":', "[]", "null", "5", '{"a":1}{"b":2}', undefined, { q: 1 }])("%j", (text) => {
    const [head, error] = repairMessages([broken(text)]);
    expect((head as AssistantMessage).tool_calls?.[0]?.function.arguments).toBe("{}");
    expect(error?.metadata?.isError).toBe(true);
    expect(error?.content).toContain("not a JSON object");
  });

  test("a recorded result is kept: it says what happened", () => {
    const list = [broken("{"), result("c1")];
    expect(repairMessages(list)[1]).toBe(list[1]);
  });

  test("arguments with blanks around them are fine as they are", () => {
    const list = [broken(' {"q": 1}\n'), result("c1")];
    expect(repairMessages(list)).toBe(list);
  });
});

describe("an assistant message with neither text nor calls is left out", () => {
  const silent = ["", " \n", null, undefined, [], [{ type: "text", text: "" }], [{ type: "text", text: "\t" }], 42];
  test.for(silent)("content %j", (content) => {
    const list = [user("hi"), wild({ role: "assistant", content }), user("hello?")];
    expect(repairMessages(list)).toEqual([user("hi"), user("hello?")]);
  });

  test.for([null, []])("an assistant message with text and tool_calls %j loses only the field", (tool_calls) => {
    const [message] = repairMessages([{ role: "assistant", content: "hi", tool_calls }]);
    expect(message).toEqual({ role: "assistant", content: "hi", metadata: { repaired: "tool_calls" } });
  });

  test("an assistant message with an image and no text stays", () => {
    const list = [assistant([{ type: "image_url", image_url: { url: "https://example.com/a.png" } }])];
    expect(repairMessages(list)).toBe(list);
  });
});

describe("unusual but valid lists stay as they are", () => {
  test("consecutive user messages", () => {
    const list = [user("one"), user("two")];
    expect(repairMessages(list)).toBe(list);
  });

  test("an assistant message in front", () => {
    const list = [assistant("welcome"), user("hi")];
    expect(repairMessages(list)).toBe(list);
  });

  test("system messages in the middle", () => {
    const list = [user("hi"), system("be brief"), assistant("ok")];
    expect(repairMessages(list)).toBe(list);
  });

  test("an empty list", () => {
    const list: Message[] = [];
    expect(repairMessages(list)).toBe(list);
  });
});

test.for([5, null, undefined, "text", {}])("%j in place of a list is refused with a sentence", (value) => {
  expect(() => repairMessages(value as never)).toThrow(/^"messages" must be a list of messages; found/);
});

describe("garbage", () => {
  test.for([null, undefined, 7, "text", [], {}, { role: "alien", content: "x" }, { role: "user", content: null }])(
    "an entry %j is left out",
    (entry) => {
      expect(repairMessages([user("hi"), wild(entry)])).toEqual([user("hi")]);
    },
  );

  test("a list of parts keeps its parts and its bare texts", () => {
    const part = { type: "text", text: "part" };
    const [message] = repairMessages([wild({ role: "user", content: [null, "bare", 5, part] })]);
    expect(message?.content).toEqual([{ type: "text", text: "bare" }, part]);
    expect(message?.metadata?.repaired).toBe("content");
  });

  test("unreadable content beside calls becomes none", () => {
    const list = [wild({ role: "assistant", content: 42, tool_calls: [call("c1")] }), result("c1")];
    expect(repairMessages(list)[0]).toMatchObject({ content: null, tool_calls: [call("c1")] });
  });

  test("a result without readable content says nothing", () => {
    const list = [calling(call("c1")), wild({ role: "tool", tool_call_id: "c1", content: { a: 1 } })];
    expect(repairMessages(list)[1]).toMatchObject({ tool_call_id: "c1", content: "" });
  });

  test("a call without a name is called unknown_tool", () => {
    const [head] = repairMessages([calling(call("c1", "")), result("c1")]) as [AssistantMessage];
    expect(head.tool_calls?.[0]?.function.name).toBe("unknown_tool");
  });

  test("a function that is no object becomes one without its remains", () => {
    const list = [wild({ role: "assistant", content: null, tool_calls: [{ id: "c1", function: "abc" }] })];
    const [head] = repairMessages(list) as [AssistantMessage];
    expect(head.tool_calls).toEqual([
      { id: "c1", type: "function", function: { name: "unknown_tool", arguments: "{}" } },
    ]);
  });
});

describe("cost", () => {
  /** How often a property of any message was read. */
  const reads = (size: number): number => {
    let count = 0;
    const counted = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(from, key) {
          count++;
          return Reflect.get(from, key);
        },
      });
    const list = Array.from({ length: size }, (_, i) => [calling(call("same")), user(`${i}`), result("same")]).flat();
    repairMessages(list.map(counted));
    return count;
  };

  test("is linear: twice the list, twice the reads, though every id is the same", () => {
    expect(reads(2000) / reads(1000)).toBeLessThan(2.1);
  });
});
