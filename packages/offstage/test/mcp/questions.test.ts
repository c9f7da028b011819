// Questions of MCP servers: the run waits, and another client completes the call with the answer.
import { createMcpHandler, fromJsonSchema, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent, AgentState, memoryStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { type Handler, type HttpServer, serveHttp } from "./http-server.ts";

const noInput = fromJsonSchema({ type: "object", properties: {} } as never);
const seatSchema = {
  type: "object" as const,
  properties: { seat: { type: "string" as const }, window: { type: "boolean" as const, default: true } },
  required: ["seat", "window"],
};
const elicit = (message: string, requestedSchema: object = seatSchema) =>
  inputRequired.elicit({ message, requestedSchema: requestedSchema as never });

type Answers = Record<string, { action: string; content?: Record<string, unknown> }>;

/** A server that asks for a seat and then, in a second round, for two more things. It keeps nothing. */
function bookingServer(legs: unknown[]): Promise<HttpServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "t", version: "1" }, { capabilities: { tools: {} } });
    server.registerTool("book", { inputSchema: noInput }, (_input, { mcpReq }) => {
      const state = mcpReq.requestState<string>();
      const answers = (mcpReq.inputResponses ?? {}) as Answers;
      legs.push(state ?? "first");
      if (state === undefined)
        return inputRequired({ inputRequests: { seat: elicit("Which seat?") }, requestState: "asked-seat" });
      if (state === "asked-seat") {
        const { action, content } = answers.seat ?? { action: "missing" };
        if (action !== "accept") return { content: [{ type: "text", text: `Not booked: ${action}.` }] };
        const inputRequests = {
          meal: elicit("Which meal?", { type: "object", properties: { meal: { type: "string" } } }),
          name: elicit("Your name?", { type: "object", properties: { name: { type: "string" } } }),
        };
        return inputRequired({ inputRequests, requestState: JSON.stringify(content) });
      }
      const { meal, name } = answers;
      const text = JSON.stringify({ ...JSON.parse(state), ...meal?.content, ...name?.content });
      return { content: [{ type: "text", text }] };
    });
    return server;
  });
  return serveHttp((request) => handler.fetch(request));
}

/** An agent in a process of its own, as far as it can tell: a new connection and a new model. */
async function clerk(url: string, replies: Parameters<typeof scriptedModel>[0]) {
  const mcp = mcpTools({ name: "s", url });
  const model = scriptedModel(replies);
  return { mcp, model, agent: new Agent({ name: "clerk", model, tools: () => mcp.tools() }) };
}

const bookCall = { toolCalls: [{ name: "s__book", id: "b1" }] };

test("a question pauses the run, and each answer is completed by a new client without a repeated leg", async () => {
  const legs: unknown[] = [];
  await using server = await bookingServer(legs);
  const store = memoryStore();
  const first = await clerk(server.url, [bookCall]);
  const paused = await first.agent.run("Book.", { session: store.session("anna") });
  await first.mcp.close();
  expect(paused.outcome).toMatchObject({ status: "waiting", reason: "question" });
  expect(paused.approvals).toMatchObject([
    { kind: "question", toolCallId: "b1", toolName: "s__book", message: "Which seat?" },
  ]);
  expect(JSON.stringify(paused.approvals)).not.toContain("asked-seat");
  expect(legs).toEqual(["first"]);

  const values = [{ seat: "12A" }, { meal: "soup" }, { name: "Anna" }];
  const asked: unknown[] = [];
  for (const value of values) {
    const next = await clerk(server.url, ["Booked."]);
    const result = await next.agent.resume(paused.runId, { store, answers: [{ toolCallId: "b1", value }] });
    asked.push(result.approvals.map((each) => each.kind === "question" && each.message));
    if (result.outcome.status === "completed")
      expect(next.model.requests[0]?.messages.at(-1)?.content).toBe(
        '{"window":true,"seat":"12A","meal":"soup","name":"Anna"}',
      );
    await next.mcp.close();
  }
  expect(asked).toEqual([["Which meal?"], ["Your name?"], []]);
  expect(legs).toEqual(["first", "asked-seat", '{"window":true,"seat":"12A"}']);
});

test("a run without a session resumes by its state, as JSON", async () => {
  const legs: unknown[] = [];
  await using server = await bookingServer(legs);
  const first = await clerk(server.url, [bookCall]);
  const paused = await first.agent.run("Book.");
  await first.mcp.close();
  const state = AgentState.fromJSON(JSON.parse(JSON.stringify(paused.state.toJSON())));
  const second = await clerk(server.url, ["Not booked."]);
  const done = await second.agent.resume(state, { answers: [{ toolCallId: "b1", declined: true }] });
  await second.mcp.close();
  expect(done.output).toBe("Not booked.");
  expect(second.model.requests[0]?.messages.at(-1)?.content).toBe("Not booked: decline.");
  expect(legs).toEqual(["first", "asked-seat"]);
});

test("an answer that does not fit is refused, and the run keeps waiting", async () => {
  await using server = await bookingServer([]);
  const store = memoryStore();
  const { agent, mcp } = await clerk(server.url, [bookCall]);
  const { runId } = await agent.run("Book.", { session: store.session("anna") });
  const answers = [{ toolCallId: "b1", value: { seat: 12 } }];
  await expect(agent.resume(runId, { store, answers })).rejects.toMatchObject({ code: "invalid-argument" });
  expect((await store.runs.get(runId))?.status).toBe("waiting");
  await mcp.close();
});

test("onApproval answers while the run goes on", async () => {
  const legs: unknown[] = [];
  await using server = await bookingServer(legs);
  const { agent, mcp, model } = await clerk(server.url, [bookCall, "Booked."]);
  const given: Record<string, object> = {
    "Which seat?": { seat: "1A" },
    "Which meal?": { meal: "tea" },
    "Your name?": { name: "Bo" },
  };
  const result = await agent.run("Book.", {
    onApproval: async (approval) =>
      approval.kind === "question" ? { value: given[approval.message] as never } : undefined,
  });
  await mcp.close();
  expect(result.output).toBe("Booked.");
  expect(model.requests[1]?.messages.at(-1)?.content).toContain('"seat":"1A"');
  expect(legs).toHaveLength(3);
});

describe("on the old protocol, where a call stays open while it asks", () => {
  // By hand: a server that asks on the stream of the call, as often as it is called.
  function oldServer(calls: string[]): Promise<HttpServer> {
    const waiting = new Map<number, (content: unknown) => void>();
    let asked = 100;
    const handle: Handler = async (request) => {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const body = (await request.json()) as { id?: number; method?: string; result?: unknown };
      const { id, method } = body;
      if (method === undefined) {
        waiting.get(id as number)?.(body.result);
        return new Response(null, { status: 202 });
      }
      if (id === undefined) return new Response(null, { status: 202 });
      const answer = (result: object) => Response.json({ jsonrpc: "2.0", id, result });
      if (method === "initialize")
        return answer({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "old", version: "1" },
        });
      if (method === "tools/list") return answer({ tools: [{ name: "book", inputSchema: { type: "object" } }] });
      if (method !== "tools/call") return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
      calls.push("book");
      const encoder = new TextEncoder();
      const body2 = new ReadableStream<Uint8Array>({
        async start(controller) {
          const send = (message: object) =>
            controller.enqueue(encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`));
          const question = asked++;
          const reply = new Promise((resolve) => waiting.set(question, resolve));
          send({
            id: question,
            method: "elicitation/create",
            params: { message: "Which seat?", requestedSchema: seatSchema },
          });
          send({ id, result: { content: [{ type: "text", text: JSON.stringify(await reply) }] } });
          controller.close();
        },
      });
      return new Response(body2, { headers: { "content-type": "text/event-stream" } });
    };
    return serveHttp(handle);
  }

  test("somebody who answers at once lets the call go on", async () => {
    const calls: string[] = [];
    await using server = await oldServer(calls);
    const { agent, mcp } = await clerk(server.url, [bookCall, "Booked."]);
    const result = await agent.run("Book.", { onApproval: async () => ({ value: { seat: "1A" } }) });
    await mcp.close();
    expect(result.output).toBe("Booked.");
    expect(calls).toEqual(["book"]);
  });

  test("the call is cancelled, the run waits, and the call is made again with the answer", async () => {
    const calls: string[] = [];
    await using server = await oldServer(calls);
    const store = memoryStore();
    const first = await clerk(server.url, [bookCall]);
    const paused = await first.agent.run("Book.", { session: store.session("anna") });
    await first.mcp.close();
    expect(paused.approvals).toMatchObject([{ kind: "question", message: "Which seat?" }]);
    const second = await clerk(server.url, ["Booked."]);
    const answers = [{ toolCallId: "b1", value: { seat: "3C" } }];
    const done = await second.agent.resume(paused.runId, { store, answers });
    await second.mcp.close();
    expect(done.output).toBe("Booked.");
    const result = JSON.parse(String(second.model.requests[0]?.messages.at(-1)?.content));
    expect(result).toMatchObject({ action: "accept", content: { seat: "3C", window: true } });
    expect(calls).toEqual(["book", "book"]);
  });
});
