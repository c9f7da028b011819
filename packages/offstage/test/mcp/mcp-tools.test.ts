// The tools of MCP servers, over the real client and server packages.
import { type CallToolResult, fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent, type Message, textOf, withTrace } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { type HttpServer, serveMcp } from "./http-server.ts";

const object = <T = unknown>(properties: Record<string, unknown>, required: string[] = []) =>
  fromJsonSchema<T>({ type: "object", properties, required } as never);
const noInput = object({});
const png = "iVBORw0KGgo=";

function content(...blocks: unknown[]): CallToolResult {
  return { content: blocks as CallToolResult["content"] };
}

/** Defines tools that return fixed results. */
const fixed =
  (results: Record<string, unknown>) =>
  (server: McpServer): void => {
    for (const [name, result] of Object.entries(results))
      server.registerTool(name, { description: `Does ${name}.`, inputSchema: noInput }, async () => result as never);
  };

/** Runs an agent that calls one tool, and returns the result's message. */
async function callOnce(tools: Tool[], name: string, input: object = {}): Promise<Message | undefined> {
  const model = scriptedModel([{ toolCalls: [{ name, input }] }, "Done."]);
  await new Agent({ model, tools }).run("Go.");
  return model.requests[1]?.messages.findLast(({ role }) => role === "tool");
}

test("an agent calls a tool of a server, and the model reads its result", async () => {
  await using server = await serveMcp((mcp) => {
    const inputSchema = object<{ a: number; b: number }>({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]);
    mcp.registerTool("add", { description: "Adds.", inputSchema }, (input) =>
      content({ type: "text", text: String(input.a + input.b) }),
    );
  });
  await using calc = mcpTools({ name: "calc", url: server.url });
  const model = scriptedModel([
    { toolCalls: [{ name: "calc__add", input: { a: 2 } }] },
    { toolCalls: [{ name: "calc__add", input: { a: 2, b: 3 } }] },
    "Five.",
  ]);
  const result = await new Agent({ model, tools: await calc.tools() }).run("2 + 3?");
  expect(result.output).toBe("Five.");
  expect(textOf(model.requests[1]?.messages.at(-1))).toContain("was not run, because its input does not fit");
  expect(model.requests[2]?.messages.at(-1)).toMatchObject({ role: "tool", content: "5" });
});

test("a required property that has a default may be left out: the server fills it in", async () => {
  await using server = await serveMcp((mcp) => {
    const inputSchema = object<{ scale?: string }>({ scale: { type: "string", default: "css" } }, []);
    mcp.registerTool("shoot", { inputSchema }, ({ scale = "css" }) => content({ type: "text", text: scale }));
    // Libraries that describe the value after the defaults list the property as required.
    mcp.server.setRequestHandler("tools/list", () => {
      const properties = { scale: { type: "string" as const, default: "css" } };
      return { tools: [{ name: "shoot", inputSchema: { type: "object" as const, properties, required: ["scale"] } }] };
    });
  });
  await using mcp = mcpTools({ name: "s", url: server.url });
  expect((await callOnce(await mcp.tools(), "s__shoot"))?.content).toBe("css");
});

test("an agent whose tools are a function has the tools that the server has now", async () => {
  const names = ["first"];
  await using server = await serveMcp((mcp) => {
    const results = Object.fromEntries(names.map((name) => [name, content({ type: "text", text: name })]));
    fixed(results)(mcp);
  });
  await using mcp = mcpTools({ name: "s", url: server.url, pin: "off" });
  const model = scriptedModel([
    () => {
      names.push("second");
      return { toolCalls: [{ name: "s__first" }] };
    },
    { toolCalls: [{ name: "s__second" }] },
    "Done.",
  ]);
  const { steps } = await new Agent({ model, tools: () => mcp.tools() }).run("Go.");
  expect(steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output))).toEqual(["first", "second"]);
});

test("the newest protocol is negotiated on HTTP", async () => {
  await using server = await serveMcp(fixed({ ping: content({ type: "text", text: "pong" }) }));
  await using mcp = mcpTools({ name: "s", url: server.url });
  await callOnce(await mcp.tools(), "s__ping");
  const call = server.requests.find(({ body }) => body?.method === "tools/call");
  expect(call?.headers["mcp-protocol-version"]).toBe("2026-07-28");
});

test("many runs share one connection, which is made on first use", async () => {
  await using server = await serveMcp(fixed({ ping: content({ type: "text", text: "pong" }) }));
  await using mcp = mcpTools({ name: "s", url: server.url });
  expect(server.requests).toEqual([]);
  const lists = await Promise.all(Array.from({ length: 10 }, () => mcp.tools()));
  await Promise.all(lists.map((tools) => callOnce(tools, "s__ping")));
  const methods = server.requests.map(({ body }) => body?.method);
  expect(methods.filter((method) => method === "server/discover")).toHaveLength(1);
  expect(methods.filter((method) => method === "tools/call")).toHaveLength(10);
});

test("content blocks become text, images, audio and files", async () => {
  const blocks = [
    { type: "text", text: "a page" },
    { type: "image", data: png, mimeType: "image/png" },
    { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///a/report.pdf", blob: "JVBERi0=", mimeType: "application/pdf" } },
    { type: "resource", resource: { uri: "file:///a/notes.txt", text: "notes", mimeType: "text/plain" } },
    { type: "resource_link", uri: "file:///a/more.txt", name: "more" },
  ];
  await using server = await serveMcp(fixed({ look: content(...blocks) }));
  await using mcp = mcpTools({ name: "s", url: server.url });
  const model = scriptedModel([{ toolCalls: [{ name: "s__look" }] }, "Seen."]);
  const result = await new Agent({ model, tools: await mcp.tools() }).run("Look.");
  expect(result.steps[0]?.toolResults[0]?.content).toEqual([
    { type: "text", text: "a page" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
    { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
    { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "report.pdf" } },
    { type: "text", text: "notes" },
    { type: "text", text: "[resource more: file:///a/more.txt]" },
  ]);
});

test("structured content is the output, and the model reads it in place of the text", async () => {
  const result = { ...content({ type: "text", text: '{"celsius":21}' }), structuredContent: { celsius: 21 } };
  await using server = await serveMcp(fixed({ weather: result }));
  await using mcp = mcpTools({ name: "s", url: server.url });
  const model = scriptedModel([{ toolCalls: [{ name: "s__weather" }] }, "21."]);
  const { steps } = await new Agent({ model, tools: await mcp.tools() }).run("Weather?");
  expect(steps[0]?.toolResults[0]).toMatchObject({ output: { celsius: 21 }, content: '{"celsius":21}' });
});

test("a failed call is a tool error that the model reads", async () => {
  await using server = await serveMcp(
    fixed({ fail: { ...content({ type: "text", text: "No such city." }), isError: true } }),
  );
  await using mcp = mcpTools({ name: "s", url: server.url });
  expect(await callOnce(await mcp.tools(), "s__fail")).toMatchObject({
    content: "No such city.",
    metadata: { isError: true },
  });
});

test("names are made valid, and a collision is an error that names both tools", async () => {
  const one = content({ type: "text", text: "1" });
  await using server = await serveMcp(fixed({ "read.file": one, [`long_${"x".repeat(100)}`]: one }));
  await using mcp = mcpTools({ name: "fs", url: server.url });
  const names = (await mcp.tools()).map(({ name }) => name);
  expect(names[0]).toBe("fs__read_file");
  expect(names[1]).toMatch(/^fs__long_x+_[0-9a-f]{8}$/);
  expect(names[1]).toHaveLength(64);
  await using both = await serveMcp(fixed({ "read.file": one, read_file: one }));
  await using colliding = mcpTools({ name: "fs", url: both.url });
  await expect(colliding.tools()).rejects.toMatchObject({
    code: "invalid-tool",
    message:
      'The tools "read.file" and "read_file" of the MCP server "fs" would both be called "fs__read_file". Select one with "only".',
  });
});

test("only the named tools are used, and a star stands for any characters", async () => {
  const one = content({ type: "text", text: "1" });
  await using server = await serveMcp(fixed({ search: one, read_file: one, read_all: one, write: one }));
  await using mcp = mcpTools({ name: "s", url: server.url, only: ["search", "read_*"] });
  expect((await mcp.tools()).map(({ name }) => name)).toEqual(["s__search", "s__read_file", "s__read_all"]);
  await using missing = mcpTools({ name: "s", url: server.url, only: ["serch"] });
  await expect(missing.tools()).rejects.toMatchObject({
    code: "mcp-failed",
    message: expect.stringContaining('"serch"'),
  });
});

test("a server that cannot be reached is an error, or is left out with a warning", async () => {
  const url = "http://127.0.0.1:9/mcp";
  await expect(mcpTools({ name: "gone", url }).tools()).rejects.toMatchObject({
    code: "mcp-failed",
    message: expect.stringMatching(/^The MCP server "gone" cannot be reached: /),
  });
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  await using lax = mcpTools({ name: "gone", url, onMissing: "leave-out", onWarning });
  expect([await lax.tools(), await lax.tools()]).toEqual([[], []]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^The tools of the MCP server "gone" are left out\. /);
});

async function approvalsFor(server: HttpServer, options: object): Promise<Record<string, unknown>> {
  await using mcp = mcpTools({ name: "s", url: server.url, ...options });
  return Object.fromEntries((await mcp.tools()).map(({ name, needsApproval }) => [name.slice(3), needsApproval]));
}

test("a hint of a server skips no approval unless it is trusted", async () => {
  await using server = await serveMcp((mcp) => {
    const read = { inputSchema: noInput, annotations: { readOnlyHint: true } };
    mcp.registerTool("read", read, () => content({ type: "text", text: "" }));
    mcp.registerTool("write", { inputSchema: noInput }, () => content({ type: "text", text: "" }));
  });
  expect(await approvalsFor(server, {})).toEqual({ read: false, write: false });
  expect(await approvalsFor(server, { approve: "always" })).toEqual({ read: true, write: true });
  expect(await approvalsFor(server, { approve: "unless-read-only" })).toEqual({ read: true, write: true });
  const trusted = { approve: "unless-read-only", trustHints: true };
  expect(await approvalsFor(server, trusted)).toEqual({ read: false, write: true });
});

test("a function decides which calls wait for approval", async () => {
  await using server = await serveMcp(fixed({ pay: content({ type: "text", text: "paid" }) }));
  const seen: unknown[] = [];
  const approve = (call: object): boolean => seen.push(call) > 0;
  await using mcp = mcpTools({ name: "s", url: server.url, approve });
  const model = scriptedModel([{ toolCalls: [{ name: "s__pay", id: "c1" }] }, "Paid."]);
  const agent = new Agent({ model, tools: await mcp.tools() });
  const waiting = await agent.run("Pay.");
  expect(waiting.outcome.status).toBe("waiting");
  expect(seen).toEqual([{ tool: "pay", input: {}, hints: {} }]);
  const done = await agent.resume(waiting.state, { approve: ["c1"] });
  expect(done.output).toBe("Paid.");
});

test("an abort cancels the call at the server", async () => {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  await using server = await serveMcp((mcp) => {
    mcp.registerTool("hang", { inputSchema: noInput }, (_input, context) => {
      context.mcpReq.signal.addEventListener("abort", () => resolve());
      return new Promise<CallToolResult>(() => undefined);
    });
  });
  await using mcp = mcpTools({ name: "s", url: server.url });
  const abort = new AbortController();
  const model = scriptedModel([{ toolCalls: [{ name: "s__hang" }] }]);
  const agent = new Agent({
    model,
    tools: await mcp.tools(),
    hooks: { onToolStart: () => void setTimeout(() => abort.abort(), 50) },
  });
  await expect(agent.run("Go.", { signal: abort.signal })).rejects.toThrow(/abort/i);
  await cancelled;
});

test("a call that takes too long is answered with an error and not repeated", async () => {
  let calls = 0;
  await using server = await serveMcp((mcp) => {
    mcp.registerTool("hang", { inputSchema: noInput, annotations: { idempotentHint: true } }, () => {
      calls++;
      return new Promise<CallToolResult>(() => undefined);
    });
  });
  await using mcp = mcpTools({ name: "s", url: server.url, timeoutMs: 200, trustHints: true });
  const message = await callOnce(await mcp.tools(), "s__hang");
  expect(message?.content).toContain("took longer than 200 ms");
  expect(calls).toBe(1);
});

test("the trace of a run continues at the server", async () => {
  await using server = await serveMcp(fixed({ ping: content({ type: "text", text: "pong" }) }));
  await using mcp = mcpTools({ name: "s", url: server.url });
  const tools = await mcp.tools();
  const traceId = await withTrace("outer", async () => {
    const model = scriptedModel([{ toolCalls: [{ name: "s__ping" }] }, "Done."]);
    return (await new Agent({ model, tools }).run("Go.")).traceId;
  });
  const call = server.requests.find(({ body }) => body?.method === "tools/call");
  expect(call?.body?.params._meta.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-0[01]$`));
});

test("instructions, resources and prompts are there, and no agent sees them by itself", async () => {
  await using server = await serveMcp(
    (mcp) => {
      mcp.registerTool("ping", { inputSchema: noInput }, () => content({ type: "text", text: "pong" }));
      mcp.registerResource("readme", "file:///readme", { mimeType: "text/plain" }, () => ({
        contents: [{ uri: "file:///readme", text: "Read me." }],
      }));
      mcp.registerPrompt("review", { argsSchema: object<{ pr: string }>({ pr: { type: "string" } }) }, (input) => ({
        messages: [{ role: "user", content: { type: "text", text: `Review ${input.pr}.` } }],
      }));
    },
    { instructions: "Be \u001b[31mkind\u202e." },
  );
  await using mcp = mcpTools({ name: "s", url: server.url });
  expect(mcp.instructions).toBeUndefined();
  await callOnce(await mcp.tools(), "s__ping");
  expect(mcp.instructions).toBe("Be [31mkind.");
  expect(await mcp.resources()).toMatchObject([{ uri: "file:///readme", name: "readme" }]);
  expect(await mcp.resource("file:///readme")).toEqual([{ type: "text", text: "Read me." }]);
  expect(await mcp.prompt("review", { pr: 17 })).toEqual([{ role: "user", content: "Review 17." }]);
});

test("a tool that did not change is the same object when the tools are listed again", async () => {
  await using server = await serveMcp(fixed({ ping: content({ type: "text", text: "pong" }) }));
  await using mcp = mcpTools({ name: "s", url: server.url });
  const [[first], [second]] = [await mcp.tools(), await mcp.tools()];
  expect(second).toBe(first);
});

test.for<[string, object, string]>([
  ["no name", { url: "http://x" }, '"name" must be text of 1 to 32 letters'],
  ["a wrong name", { name: "a b", url: "http://x" }, '"name" must be text of 1 to 32 letters'],
  ["neither url nor command", { name: "a" }, 'either "url" or "command"; found neither'],
  ["both", { name: "a", url: "http://x", command: "y" }, "found both"],
  ["a file URL", { name: "a", url: "file:///x" }, '"url" must be an http or https URL'],
  ["headers for a process", { name: "a", command: "x", headers: {} }, '"headers" belongs to a server with "url"'],
  ["an environment for HTTP", { name: "a", url: "http://x", env: {} }, '"env" belongs to a server with "command"'],
  ["an unknown option", { name: "a", url: "http://x", timeout: 1 }, 'Use "timeoutMs" instead'],
  ["a wrong approve", { name: "a", url: "http://x", approve: "sometimes" }, '"approve" must be "always"'],
])("%s is refused", ([, options, message]) => {
  expect(() => mcpTools(options as never)).toThrow(
    expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(message) }),
  );
});

test("closed tools say so", async () => {
  await using server = await serveMcp(fixed({ ping: content({ type: "text", text: "pong" }) }));
  const mcp = mcpTools({ name: "s", url: server.url });
  const tools = await mcp.tools();
  await mcp.close();
  await mcp.close();
  await expect(mcp.tools()).rejects.toMatchObject({
    code: "mcp-failed",
    message: expect.stringContaining("were closed"),
  });
  expect((await callOnce(tools, "s__ping"))?.content).toContain("were closed");
});
