import { describe, expect, test } from "vitest";
import { MessageQuery } from "../message-query.ts";

const line = (type: "user" | "assistant", uuid: string, message: object, more: object = {}) => ({
  ...{ type, uuid, parentUuid: null, sessionId: "5b1c", timestamp: "2026-11-18T07:00:00.000Z", cwd: "/shop" },
  ...{ message: { role: type, ...message }, ...more },
});

describe("importing a session log of Claude Code", () => {
  const log = [
    { type: "summary", summary: "Broken tests", leafUuid: "u4" },
    { type: "file-history-snapshot", messageId: "u1", snapshot: {} },
    line("user", "u0", { content: "Caveat: added by the program." }, { isMeta: true }),
    line("user", "u1", { content: "Why do the tests fail?" }),
    line("assistant", "u2", { id: "msg_1", content: [{ type: "text", text: "Let me look." }] }),
    line("assistant", "u3", {
      id: "msg_1",
      content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "npm test" } }],
    }),
    line("user", "u4", { content: [{ type: "tool_result", tool_use_id: "t1", content: "1 failed", is_error: true }] }),
    line(
      "assistant",
      "s1",
      { id: "msg_9", content: [{ type: "text", text: "from a subagent" }] },
      { isSidechain: true },
    ),
    line("assistant", "u5", {
      id: "msg_2",
      content: [{ type: "text", text: "One test is wrong." }],
      usage: { input_tokens: 5, output_tokens: 3 },
    }),
  ];
  const messages = MessageQuery.from(log).all();

  test("the blocks of a reply become one message, and results answer their calls", () => {
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(messages[1]).toMatchObject({
      content: "Let me look.",
      tool_calls: [{ id: "t1", function: { name: "Bash" } }],
    });
    expect(messages[2]).toMatchObject({ tool_call_id: "t1", content: "1 failed", metadata: { isError: true } });
  });

  test("ids, times and usage are kept", () => {
    expect(messages[0]?.metadata).toEqual({ id: "u1", createdAt: "2026-11-18T07:00:00.000Z" });
    expect(messages[3]?.metadata?.usage).toMatchObject({ totalTokens: 8 });
  });

  test("the log of a subagent is read too", () => {
    const own = log.filter((each) => "isSidechain" in each);
    expect(MessageQuery.from(own).all()).toMatchObject([{ role: "assistant", content: "from a subagent" }]);
  });
});

describe("importing a rollout of Codex", () => {
  const item = (payload: object) => ({ timestamp: "2026-11-18T07:00:00.000Z", type: "response_item", payload });
  const said = (role: string, text: string) =>
    item({ type: "message", role, content: [{ type: role === "assistant" ? "output_text" : "input_text", text }] });
  const rollout = [
    { timestamp: "2026-11-18T07:00:00.000Z", type: "session_meta", payload: { id: "0199", cwd: "/shop" } },
    said("user", "<environment_context>added by the program</environment_context>"),
    said("user", "Why do the tests fail?"),
    { timestamp: "2026-11-18T07:00:00.000Z", type: "event_msg", payload: { type: "user_message", message: "Why?" } },
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "Look first." }], encrypted_content: "x" }),
    item({ type: "function_call", call_id: "c1", name: "shell", arguments: '{"command":["npm","test"]}' }),
    item({ type: "function_call_output", call_id: "c1", output: "1 failed" }),
    item({ type: "local_shell_call", call_id: "c2", action: { command: ["ls"] } }),
    item({ type: "function_call_output", call_id: "c2", output: "a b" }),
    said("assistant", "One test is wrong."),
  ];
  const messages = MessageQuery.from(rollout).all();

  test("items become messages, calls and results, and what the program added is left out", () => {
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool", "assistant"]);
    expect(messages[1]).toMatchObject({
      tool_calls: [{ id: "c1", function: { name: "shell" } }],
      metadata: { reasoning: "Look first." },
    });
    expect(messages[3]).toMatchObject({
      tool_calls: [{ id: "c2", function: { name: "shell", arguments: '{"command":["ls"]}' } }],
    });
    expect(messages[5]).toMatchObject({
      content: "One test is wrong.",
      metadata: { createdAt: "2026-11-18T07:00:00.000Z" },
    });
  });
});
