// Lesson 37: your record and your agents as an MCP server. Another program searches what was said, and asks the agent.
// `authorize` decides who sees what; without it, HTTP is refused. Secrets are redacted.
import { Agent, memoryStore, tool } from "offstage";
import { mcpServer, mcpTools } from "offstage/mcp";
import { scriptedModel } from "offstage/testing";
import { serveFetch } from "./serve-fetch.ts";

const store = memoryStore();
const lookup = tool({
  name: "lookup",
  input: { type: "object", properties: { order: { type: "string" } } },
  execute: ({ order }) => ({ order, city: "Hamburg", apiKey: "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789" }),
});
const deskModel = scriptedModel([
  { toolCalls: [{ name: "lookup", input: { order: "17" } }] },
  "Order 17 is in Hamburg.",
  "It arrives tomorrow.",
]);
const desk = new Agent({ name: "desk", model: deskModel, tools: [lookup], description: "Knows all orders." });
await desk.run("Where is order 17?", { session: store.namespace("acme").session("anna") });

// In a web framework: export const POST = mcp.fetch. For a local program: await mcp.stdio().
const mcp = mcpServer({
  store,
  agents: [desk],
  authorize: (request) => (request.headers.get("x-key") === "acme-key" ? { namespace: "acme" } : undefined),
});
const { url, close } = await serveFetch(mcp.fetch);

// The other program: an agent with the tools of this server.
const tools = mcpTools({ name: "acme", url, headers: { "x-key": "acme-key" } });
const model = scriptedModel([
  { toolCalls: [{ name: "acme__search_sessions", input: { text: "order 17" } }] },
  { toolCalls: [{ name: "acme__tool_calls", input: { session: "anna" } }] },
  { toolCalls: [{ name: "acme__ask_desk", input: { prompt: "When does order 17 arrive?" } }] },
  "Order 17 is in Hamburg and arrives tomorrow.",
]);
const auditor = new Agent({ model, tools: () => tools.tools() });
const result = await auditor.run("What do we know about order 17?");
for (const { name, content } of result.messages.filter({ role: "tool" })) console.log(`${name}: ${content}\n`);
console.log(result.output);

const stranger = mcpTools({ name: "acme", url });
console.log(await stranger.tools().catch(({ code }) => code));

await Promise.all([tools.close(), stranger.close(), mcp.close(), close()]);
await store.close();
