// A store and agents as an MCP server, over the real client and server packages.
import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { mcpServer, mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent, memoryStore, tool, user } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { serveHttp } from "./http-server.ts";

const secretKey = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";

const lookup = tool({
  name: "lookup",
  input: { type: "object", properties: { order: { type: "string" } } },
  execute: ({ order }) => `Order ${order} is in Hamburg; the key is ${secretKey}.`,
});

/** A store with one answered question in the session "anna". */
async function filledStore() {
  const store = memoryStore();
  const model = scriptedModel([{ toolCalls: [{ name: "lookup", input: { order: "17" } }] }, "It is in Hamburg."]);
  const desk = new Agent({ name: "desk", model, tools: [lookup] });
  const { runId } = await desk.run("Where is order 17?", { session: store.session("anna") });
  await store.session("bob").addItems([user("Hello from Bob.")]);
  return { store, runId };
}

type Call = (
  name: string,
  input?: object,
) => Promise<{ text: string; isError: boolean; json: <T = Record<string, unknown>>() => T }>;

/** Serves options to a client of the newest protocol, and calls its tools. */
async function client(options: Parameters<typeof mcpServer>[0], work: (call: Call, raw: Client) => Promise<void>) {
  await using server = mcpServer({ authorize: () => ({}), ...options });
  await using http = await serveHttp(server.fetch);
  const raw = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: "auto" }, capabilities: { elicitation: {} }, inputRequired: { autoFulfill: false } },
  );
  await raw.connect(new StreamableHTTPClientTransport(new URL(http.url)));
  try {
    await work(async (name, input = {}) => {
      const { content, isError = false } = await raw.callTool({ name, arguments: { ...input } });
      const [block] = content as unknown as [{ text: string }];
      return { text: block.text, isError, json: () => JSON.parse(block.text) };
    }, raw);
  } finally {
    await raw.close();
  }
}

test("the record is served by four tools that only read", async () => {
  const { store, runId } = await filledStore();
  await client({ store }, async (call, raw) => {
    const { tools } = await raw.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["search_sessions", "show_session", "show_run", "tool_calls"]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);

    const listed = (await call("search_sessions")).json();
    expect(listed.found).toMatchObject([
      { session: "bob" },
      { session: "anna", lastAgent: "desk", lastStatus: "completed" },
    ]);
    const found = (await call("search_sessions", { text: "hamburg", role: "assistant" })).json();
    expect(found.found).toMatchObject([{ session: "anna", run: runId, stream: "said", text: "It is in Hamburg." }]);

    const said = (await call("show_session", { session: "anna" })).json();
    expect(said.messages).toMatchObject([{ role: "user", text: "Where is order 17?" }, { role: "assistant" }]);
    const done = (await call("show_session", { session: "anna", trace: true })).json();
    expect(done.messages).toMatchObject([
      { role: "user" },
      { calls: [{ tool: "lookup" }] },
      { role: "tool" },
      { role: "assistant" },
    ]);

    const run = (await call("show_run", { run: runId })).json();
    expect(run).toMatchObject({ run: runId, session: "anna", agent: "desk", status: "completed" });
    expect(run.messages).toHaveLength(4);

    const expected = [{ tool: "lookup", run: runId, input: '{"order":"17"}' }];
    for (const input of [{ run: runId }, { session: "anna" }, { tool: "lookup" }])
      expect((await call("tool_calls", input)).json().messages).toMatchObject(expected);
    expect((await call("tool_calls", { failed: true })).json().messages).toEqual([]);
  });
});

test("secrets are redacted in every result", async () => {
  const { store, runId } = await filledStore();
  await client({ store }, async (call) => {
    const results = [
      await call("search_sessions", { text: "Hamburg" }),
      await call("show_session", { session: "anna", trace: true }),
      await call("show_run", { run: runId }),
      await call("tool_calls", { session: "anna" }),
    ];
    for (const { text } of results) {
      expect(text).toContain("Hamburg");
      expect(text).not.toContain("abcdefghij");
    }
  });
});

test("a result has at most 64 KiB, and its cursor leads through everything", async () => {
  const store = memoryStore();
  const texts = [
    "short",
    '"\\\n'.repeat(40_000),
    "é".repeat(50_000),
    ...Array.from({ length: 300 }, (_, i) => `m${i} ${"x".repeat(500)}`),
  ];
  await store.session("long").addItems(texts.map((text) => user(text)));
  await client({ store }, async (call) => {
    const read: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const result = await call("show_session", { session: "long", ...(cursor !== undefined && { cursor }) });
      expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(64 * 1024);
      const page = result.json<{ messages: { text: string; continuesAt?: number }[]; cursor?: string }>();
      for (const { text, continuesAt } of page.messages) {
        if (continuesAt === undefined) read.push(text);
        else read.push((read.pop() ?? "") + text);
      }
      cursor = page.cursor;
      pages++;
    } while (cursor !== undefined);
    expect(read).toEqual(texts);
    expect(pages).toBeGreaterThan(5);
    expect(await call("show_session", { session: "long", cursor: "nonsense" })).toMatchObject({ isError: true });
  });
});

type Found = { found: unknown[]; cursor?: string };

test("a large list of matches is paged", async () => {
  const store = memoryStore();
  await store.session("many").addItems(Array.from({ length: 30 }, (_, i) => user(`match ${i} ${"x".repeat(5000)}`)));
  await client({ store }, async (call) => {
    const first = (await call("search_sessions", { text: "match", limit: 20 })).json<Found>();
    const { cursor } = first;
    const second = (await call("search_sessions", { text: "match", limit: 20, cursor })).json<Found>();
    expect([first.found.length, second.found.length, second.cursor]).toEqual([20, 10, undefined]);
  });
});

test("HTTP is refused without authorize, and when it does not know the caller", async () => {
  const { store } = await filledStore();
  const request = () => new Request("http://localhost/mcp", { method: "POST", body: "{}" });
  expect((await mcpServer({ store }).fetch(request())).status).toBe(401);
  expect((await mcpServer({ store, authorize: async () => undefined }).fetch(request())).status).toBe(401);
  const errors: unknown[] = [];
  const failing = mcpServer({
    store,
    authorize: () => {
      throw new Error("secret reason");
    },
    onError: (error) => void errors.push(error),
  });
  const response = await failing.fetch(request());
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain("secret reason");
  expect(errors).toHaveLength(1);
});

test.for<[string, RequestInit]>([
  ["no JSON", { method: "POST", body: "{" }],
  ["an empty body", { method: "POST" }],
  ["a body of 5 MB", { method: "POST", body: JSON.stringify({ x: "x".repeat(5_000_000) }) }],
  ["another type", { method: "POST", body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } }],
  ["an unknown method", { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"admin/delete"}' }],
  ["a session of the old protocol", { method: "GET" }],
  ["its end", { method: "DELETE" }],
])("%s is refused, and the server goes on", async ([, init]) => {
  const server = mcpServer({ store: memoryStore(), authorize: () => ({}), onError: () => undefined });
  const accept = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const send = (more: RequestInit) =>
    server.fetch(new Request("http://localhost/mcp", { ...more, headers: { ...accept, ...(more.headers as object) } }));
  const refused = await send(init);
  const text = await refused.text();
  expect(refused.status >= 400 || text.includes('"error"'), `${refused.status} ${text}`).toBe(true);
  const discover = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  expect((await send({ method: "POST", body: JSON.stringify(discover) })).status).toBe(200);
});

test("the namespace comes from authorize, never from an argument", async () => {
  const { store, runId } = await filledStore();
  await store
    .namespace("acme")
    .session("anna")
    .addItems([user("Hello from Acme.")]);
  await client({ store, authorize: () => ({ namespace: "acme" }) }, async (call) => {
    expect((await call("show_session", { session: "anna" })).text).toContain("Hello from Acme.");
    expect((await call("search_sessions", { text: "order" })).json().found).toEqual([]);
    expect(await call("show_run", { run: runId })).toMatchObject({
      isError: true,
      text: `There is no run "${runId}".`,
    });
    expect(await call("show_session", { session: "anna", namespace: "" })).toMatchObject({ isError: true });
  });
});

test("a caller with one session sees no other", async () => {
  const { store, runId } = await filledStore();
  const model = scriptedModel(["Hello Bob."]);
  const desk = new Agent({ name: "desk", model });
  await client({ store, agents: [desk], authorize: () => ({ session: "bob" }) }, async (call) => {
    expect((await call("search_sessions")).json().found).toMatchObject([{ session: "bob" }]);
    expect((await call("search_sessions", { text: "order" })).json().found).toEqual([]);
    for (const [name, input] of [
      ["show_session", { session: "anna" }],
      ["show_run", { run: runId }],
      ["tool_calls", { session: "anna" }],
      ["tool_calls", { run: runId }],
      ["ask_desk", { prompt: "Hi", session: "anna" }],
    ] as const)
      expect(await call(name, input), name).toMatchObject({ isError: true });
    expect((await call("tool_calls")).json().messages).toEqual([]);
    expect((await call("ask_desk", { prompt: "Hi" })).text).toBe("Hello Bob.");
    expect((await store.session("bob").getAllItems()).map(({ content }) => content)).toEqual([
      "Hello from Bob.",
      "Hi",
      "Hello Bob.",
    ]);
  });
});

test("an agent is asked, its run is recorded, and its context comes from authorize", async () => {
  const store = memoryStore();
  const seen: unknown[] = [];
  const whoami = tool({ name: "whoami", execute: (_input, { context }) => void seen.push(context.get("user")) });
  const model = scriptedModel([{ toolCalls: [{ name: "whoami" }] }, "You are Anna.", "Still Anna."]);
  const desk = new Agent({ name: "help desk", model, tools: [whoami], description: "Helps." });
  await client({ store, agents: [desk], authorize: () => ({ context: { user: "anna" } }) }, async (call, raw) => {
    const { tools } = await raw.listTools();
    expect(tools.at(-1)).toMatchObject({
      name: "ask_help_desk",
      description: "Helps.",
      annotations: { readOnlyHint: false },
    });
    const result = await raw.callTool({ name: "ask_help_desk", arguments: { prompt: "Who am I?" } });
    expect(result.content).toEqual([{ type: "text", text: "You are Anna." }]);
    const session = String(result._meta?.["offstage/session"]);
    expect((await store.runs.get(String(result._meta?.["offstage/run"])))?.sessionId).toBe(session);
    expect((await call("ask_help_desk", { prompt: "Sure?", session })).text).toBe("Still Anna.");
    expect(await store.session(session).getItemCount()).toBe(4);
    expect(seen).toEqual(["anna"]);
  });
});

test("a run that fails says its code and nothing else", async () => {
  const store = memoryStore();
  const desk = new Agent({ name: "desk", model: scriptedModel([new Error("the inside of the provider")]) });
  await client({ store, agents: [desk] }, async (call) => {
    const { text, isError } = await call("ask_desk", { prompt: "Hi" });
    expect([isError, text]).toEqual([
      true,
      expect.stringMatching(/^The run failed: model-failed\. Its id is "[^"]+"\.$/),
    ]);
    expect(await call("ask_desk", { prompt: "" })).toMatchObject({ isError: true });
    expect(await call("ask_nobody", { prompt: "Hi" })).toMatchObject({ isError: true });
  });
});

function refundDesk(effects: string[]) {
  const refund = tool({
    name: "refund",
    needsApproval: true,
    input: { type: "object", properties: { euros: { type: "number" } } },
    execute: ({ euros }) => void effects.push(`${euros} EUR`),
  });
  const model = scriptedModel([{ toolCalls: [{ name: "refund", input: { euros: 8 } }] }, "Done.", "Done again."]);
  return new Agent({ name: "desk", model, tools: [refund] });
}

type Asked = {
  resultType: string;
  inputRequests: Record<string, { params: { message: string } }>;
  requestState: string;
};

const accept = { action: "accept", content: { approve: true } };

test("a run that waits asks for input, and goes on with the answer", async () => {
  const store = memoryStore();
  const effects: string[] = [];
  await client({ store, agents: [refundDesk(effects)] }, async (_call, raw) => {
    const request = { name: "ask_desk", arguments: { prompt: "Refund." } };
    const asked = (await raw.callTool(request, { allowInputRequired: true })) as unknown as Asked;
    expect(asked.resultType).toBe("input_required");
    expect(asked.inputRequests.call0?.params.message).toBe('Run refund with {"euros":8}?');
    expect(effects).toEqual([]);
    const { requestState } = asked;
    const answered = { ...request, inputResponses: { call0: accept }, requestState };
    const result = await raw.callTool(answered as never, { allowInputRequired: true });
    expect(result.content).toEqual([{ type: "text", text: "Done." }]);
    expect(effects).toEqual(["8 EUR"]);
    // The same answer again changes nothing.
    expect(await raw.callTool(answered as never, { allowInputRequired: true })).toMatchObject({ isError: true });
    expect(effects).toEqual(["8 EUR"]);
  });
});

test("a question of a tool is asked in its own form, and any other as text", async () => {
  const store = memoryStore();
  const seat = tool({
    name: "seat",
    execute: async (_input, { ask }) => {
      const schema = { type: "object", properties: { seat: { type: "string" } }, required: ["seat"] };
      const chosen = await ask({ message: "Which seat?", schema });
      const extras = await ask({ message: "Which extras?", schema: { type: "array", items: { type: "string" } } });
      return JSON.stringify([chosen, extras]);
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: "seat" }] }, "Seated."]);
  await client({ store, agents: [new Agent({ name: "desk", model, tools: [seat] })] }, async (_call, raw) => {
    const request = { name: "ask_desk", arguments: { prompt: "A seat." } };
    const send = async (answer?: object) =>
      (await raw.callTool({ ...request, ...answer } as never, { allowInputRequired: true })) as unknown as Asked;
    const accepted = (content: object) => ({ inputResponses: { call0: { action: "accept", content } } });
    const first = await send();
    expect(first.inputRequests.call0?.params).toMatchObject({
      message: "Which seat?",
      requestedSchema: { properties: { seat: {} } },
    });
    const second = await send({ ...accepted({ seat: "12A" }), requestState: first.requestState });
    expect(second.inputRequests.call0?.params).toMatchObject({
      message: "Which extras?",
      requestedSchema: { properties: { answer: {} } },
    });
    const done = await send({ ...accepted({ answer: '["tea"]' }), requestState: second.requestState });
    expect(done).toMatchObject({ content: [{ text: "Seated." }] });
    expect(model.requests[1]?.messages.at(-1)?.content).toBe('[{"seat":"12A"},["tea"]]');
  });
});

test("a refusal rejects the call, and closing the question decides nothing", async () => {
  const store = memoryStore();
  const effects: string[] = [];
  await client({ store, agents: [refundDesk(effects)] }, async (_call, raw) => {
    const request = { name: "ask_desk", arguments: { prompt: "Refund." } };
    const { requestState } = (await raw.callTool(request, { allowInputRequired: true })) as unknown as Asked;
    const answer = (response: object) =>
      raw.callTool({ ...request, inputResponses: { call0: response }, requestState } as never, {
        allowInputRequired: true,
      });
    expect(await answer({ action: "cancel" })).toMatchObject({ isError: true });
    expect(await answer({ action: "decline" })).toMatchObject({ content: [{ text: "Done." }] });
    expect(effects).toEqual([]);
  });
});

test("a client cannot forge the state of a run that waits, nor use it elsewhere", async () => {
  const store = memoryStore();
  const effects: string[] = [];
  const desk = refundDesk(effects);
  let namespace = "acme";
  const options = { store, agents: [desk], authorize: () => ({ namespace }), onError: () => undefined };
  await client(options, async (_call, raw) => {
    const request = { name: "ask_desk", arguments: { prompt: "Refund." } };
    const { requestState } = (await raw.callTool(request, { allowInputRequired: true })) as unknown as Asked;
    const answer = (state: string) =>
      raw.callTool({ ...request, inputResponses: { call0: accept }, requestState: state } as never, {
        allowInputRequired: true,
      });
    const [, body = ""] = requestState.split(".");
    const forged = JSON.parse(Buffer.from(body, "base64url").toString());
    const unsigned = `v1.${Buffer.from(JSON.stringify({ ...forged, x: 1 })).toString("base64url")}.AAAA`;
    await expect(answer(unsigned)).rejects.toThrow(/requestState/);
    namespace = "other";
    await expect(answer(requestState)).rejects.toThrow(/requestState/);
    expect(effects).toEqual([]);
  });
});

test("a client that cannot ask a person is told that the run waits", async () => {
  const store = memoryStore();
  await using server = mcpServer({ store, agents: [refundDesk([])], authorize: () => ({}) });
  await using http = await serveHttp(server.fetch);
  const raw = new Client({ name: "old", version: "1" }, {});
  await raw.connect(new StreamableHTTPClientTransport(new URL(http.url)));
  const result = await raw.callTool({ name: "ask_desk", arguments: { prompt: "Refund." } });
  await raw.close();
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("waits for a person") }] });
});

test("our own tools use our own server", async () => {
  const { store } = await filledStore();
  await using server = mcpServer({
    store,
    authorize: (request) => (request.headers.get("x-key") === "k" ? {} : undefined),
  });
  await using http = await serveHttp(server.fetch);
  await using record = mcpTools({ name: "record", url: http.url, headers: { "x-key": "k" } });
  const model = scriptedModel([
    { toolCalls: [{ name: "record__search_sessions", input: { text: "order" } }] },
    "Found.",
  ]);
  await new Agent({ model, tools: await record.tools() }).run("Which order?");
  expect(model.requests[1]?.messages.at(-1)?.content).toContain('"session":"anna"');
});

test("stdio serves a client until it is gone", async () => {
  const { store } = await filledStore();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const serving = mcpServer({ store }).stdio({ input, output });
  const answers: string[] = [];
  output.on("data", (chunk) => answers.push(String(chunk)));
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  input.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "search_sessions" } })}\n`,
  );
  await expect.poll(() => answers.join("")).toContain("anna");
  input.end();
  await serving;
});

test.for<[string, object, string]>([
  ["no store", {}, '"store" must be a store'],
  ["an unknown option", { sessions: 1 }, 'Unknown mcpServer option "sessions"'],
  ["a short secret", { secret: "short" }, "at least 32 bytes"],
  ["agents that are none", { agents: [{}] }, '"agents" must be a list of agents'],
])("%s is refused", ([name, options, message]) => {
  const store = name === "no store" ? undefined : memoryStore();
  expect(() => mcpServer({ ...(store && { store }), ...options } as never)).toThrow(message);
});

test("two agents of the same name are refused", () => {
  const desk = () => new Agent({ name: "desk", model: scriptedModel([]) });
  expect(() => mcpServer({ store: memoryStore(), agents: [desk(), desk()] })).toThrow(
    'Two agents would be the tool "ask_desk"',
  );
});
