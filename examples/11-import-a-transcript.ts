// Lesson 11: query the transcripts of other tools. `MessageQuery.from` detects the format: OpenAI chat and Responses,
// AI SDK model and UI messages, Anthropic, LangChain, and our own exports.
import { costOf, isOffstageError, MessageQuery } from "offstage";

const anthropic = {
  model: "claude-sonnet-4-5",
  system: "You are brief.",
  messages: [
    { role: "user", content: "What is in a.txt?" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read_file", input: { path: "a.txt" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "hello" }] },
    { role: "assistant", content: [{ type: "text", text: "It says hello." }] },
  ],
};
const responses = [
  { role: "user", content: "What is in a.txt?" },
  { type: "function_call", call_id: "t1", name: "read_file", arguments: '{"path":"a.txt"}' },
  { type: "function_call_output", call_id: "t1", output: "hello" },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "It says hello." }] },
];

for (const [name, transcript] of Object.entries({ anthropic, responses })) {
  const query = MessageQuery.from(transcript);
  console.log(`${name}: ${query.length} messages, ${query.stats().totalTokens} tokens (estimated)`);
  console.log(`${query.timeline()}\n`);
}

// Exports can be read back without loss, from JSON or JSON lines.
const text = MessageQuery.from(anthropic).export("jsonl");
console.log("read back:", MessageQuery.from(text).length, "messages");

// An unknown format is refused, and the error says what was found.
try {
  MessageQuery.from([{ speaker: "me", words: "hi" }]);
} catch (error) {
  if (isOffstageError(error, "invalid-format")) console.log("refused:  ", error.message);
}

// You can pass your own table of prices. The cost of an unknown model is undefined, not zero.
const usage = { inputTokens: 12_000, outputTokens: 800, totalTokens: 12_800 };
console.log("cost:     ", costOf(usage, "claude-sonnet-4-5"), costOf(usage, "my-own-model"));
