// Our server on standard input and output, for clients that start it: a record with one session, and an agent that asks for approval.
import { mcpServer } from "../../src/doors/peers/mcp.ts";
import { Agent, memoryStore, tool, user } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const store = memoryStore();
await store.session("anna").addItems([user("Where is order 17?")]);
const refund = tool({ name: "refund", needsApproval: true, execute: () => "paid" });
const model = scriptedModel([{ toolCalls: [{ name: "refund" }] }, "Paid."]);
await mcpServer({ store, agents: [new Agent({ name: "desk", model, tools: [refund] })] }).stdio();
