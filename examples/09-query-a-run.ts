// Lesson 9: query everything an agent exchanged: what was said, which tools ran, how many tokens it took.
// `agent.messages` covers conversation and tool trace. The same query works on any list of messages.
import { Agent, MessageQuery, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const files: Record<string, string> = { "a.txt": "Error: 404 not found", "b.txt": "all is well" };

const readFile = tool({
  name: "read_file",
  description: "The text of a file.",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => files[path] ?? Promise.reject(new Error(`no file "${path}"`)),
});

const model = scriptedModel([
  {
    text: "Let me look at both.",
    toolCalls: [
      { name: "read_file", input: { path: "a.txt" } },
      { name: "read_file", input: { path: "c.txt" } },
    ],
  },
  "The first file holds an error, the second does not exist.",
  "You are welcome.",
]);
const agent = new Agent({ model, tools: [readFile], separateToolTrace: true });
await agent.run("Is there an error in a.txt or c.txt?");
await agent.run("Thanks!");

// Filter by role, tool, text or pattern, run, failure or time. Criteria combine, and `where` can be chained.
const { messages } = agent;
console.log("results of read_file:", messages.filter({ role: "tool", toolName: "read_file" }).length);
console.log("that failed:         ", messages.filter({ isError: true }).length);
console.log("that hold a number:  ", messages.where({ role: "tool" }).filter({ content: /\d+/ }).length);
console.log("last:                ", messages.last()[0]?.content);

// Count and summarise. Each of these is plain data that prints itself.
console.log(`\n${messages.stats()}`);
console.log(`\n${messages.toolSummary()}`);
console.log(`\n${messages.timeline()}`);

// Query any list in the OpenAI format, with or without an agent.
const saved = JSON.parse(messages.export("json"));
console.log(`\nsaved and read again: ${new MessageQuery(saved).length} messages`);
