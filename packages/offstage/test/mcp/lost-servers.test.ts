// MCP servers that go away, and servers as child processes.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { afterAll, expect, test } from "vitest";
import { type McpTools, mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { serveHttp } from "./http-server.ts";

const program = fileURLToPath(new URL("stdio-server.ts", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "offstage-mcp-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const child = (options: object = {}): McpTools =>
  mcpTools({ name: "s", command: process.execPath, args: [program], ...options });

async function call(mcp: McpTools, tool: string): Promise<string> {
  const model = scriptedModel([{ toolCalls: [{ name: `s__${tool}` }] }, "Done."]);
  await new Agent({ model, tools: await mcp.tools() }).run("Go.");
  return String(model.requests[1]?.messages.at(-1)?.content);
}

function notesIn(file: string): string[] {
  return readFileSync(file, "utf8").trim().split("\n");
}

test("a child process gets PATH, HOME and what is listed, not the environment", async () => {
  process.env.SECRET_OF_THE_PARENT = "secret";
  await using mcp = child({ env: { TOKEN: "given" } });
  const seen: string[] = JSON.parse(await call(mcp, "environment"));
  delete process.env.SECRET_OF_THE_PARENT;
  expect(seen.filter((name) => !name.startsWith("__") && name !== "PWD")).toEqual(["HOME", "PATH", "TOKEN"]);
});

test("closing ends the child process", async () => {
  const mcp = child();
  const pid = Number(await call(mcp, "pid"));
  await mcp.close();
  expect(() => process.kill(pid, 0)).toThrow();
});

test("the child process ends when this process is killed", async () => {
  const script = `import { mcpTools } from "${new URL("../../src/doors/peers/mcp.ts", import.meta.url)}";
    const mcp = mcpTools({ name: "s", command: process.execPath, args: [${JSON.stringify(program)}] });
    const [, pid] = await mcp.tools();
    const signal = new AbortController().signal;
    console.log(await pid.execute({}, { signal, asked: [] }));`;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pid = Number(await new Promise((resolve) => parent.stdout.once("data", resolve)));
  expect(() => process.kill(pid, 0)).not.toThrow();
  parent.kill("SIGKILL");
  await expect.poll(() => isAlive(pid), { timeout: 5000 }).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a process that died between two calls is started again, and the call is sent once", async () => {
  const NOTES = join(scratch, "between");
  await using mcp = child({ env: { NOTES } });
  const tools = await mcp.tools();
  expect(await call(mcp, "die_after_answer")).toBe("goodbye");
  await new Promise((resolve) => setTimeout(resolve, 200));
  const model = scriptedModel([{ toolCalls: [{ name: "s__pid" }] }, "Done."]);
  await new Agent({ model, tools }).run("Go.");
  expect(Number(model.requests[1]?.messages.at(-1)?.content)).toBeGreaterThan(0);
  expect(notesIn(NOTES)).toEqual(["die_after_answer", "pid"]);
});

test("a call whose server died under it is not sent again: its effect is unknown", async () => {
  const NOTES = join(scratch, "under");
  await using mcp = child({ env: { NOTES } });
  expect(await call(mcp, "die")).toContain("was lost during the call, and it is unknown whether it took effect");
  expect(notesIn(NOTES)).toEqual(["die"]);
  expect(Number(await call(mcp, "pid"))).toBeGreaterThan(0);
});

test("an idempotent tool is called once more", async () => {
  const NOTES = join(scratch, "again");
  await using mcp = child({ env: { NOTES }, idempotent: ["d*"] });
  expect(await call(mcp, "die")).toContain("failed");
  expect(notesIn(NOTES)).toEqual(["die", "die"]);
});

test("the error of a process that does not start has its last words, inert and without secrets", async () => {
  await using mcp = child({ env: { FAIL: "yes" } });
  const error = await mcp.tools().catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code: "mcp-failed" });
  expect((error as Error).message).toContain("It wrote: ␛[31mno licence for");
  expect((error as Error).message).not.toContain("sk-proj-abc");
  await using none = mcpTools({ name: "s", command: "no-such-program-here" });
  await expect(none.tools()).rejects.toMatchObject({ code: "mcp-failed", message: expect.stringContaining("ENOENT") });
});

test("parallel calls that lose their server share one new connection", async () => {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "t", version: "1" }, { capabilities: { tools: {} } });
    const inputSchema = fromJsonSchema({ type: "object", properties: {} } as never);
    server.registerTool("ping", { inputSchema }, () => ({ content: [{ type: "text", text: "pong" }] }));
    return server;
  });
  const first = await serveHttp((request) => handler.fetch(request));
  await using mcp = mcpTools({ name: "s", url: first.url, idempotent: ["*"] });
  const tools = await mcp.tools();
  await first.close();
  await using second = await serveHttp((request) => handler.fetch(request), Number(new URL(first.url).port));
  const original = globalThis.fetch;
  // Each call loses its connection once.
  let left = 8;
  globalThis.fetch = (url, init) => {
    if (!String(init?.body).includes('"tools/call"') || left-- <= 0) return original(url, init);
    return Promise.reject(
      new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNRESET" }) }),
    );
  };
  try {
    const model = scriptedModel([{ toolCalls: Array.from({ length: 8 }, () => ({ name: "s__ping" })) }, "Done."]);
    await new Agent({ model, tools, maxParallelTools: 8 }).run("Go.");
    const results = model.requests[1]?.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    expect(results).toEqual(Array(8).fill("pong"));
    expect(second.requests.filter(({ body }) => body?.method === "server/discover")).toHaveLength(1);
  } finally {
    globalThis.fetch = original;
  }
});

test("a server on HTTP that was started anew is found again, and the call is sent once", async () => {
  let calls = 0;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "t", version: "1" }, { capabilities: { tools: {} } });
    const inputSchema = fromJsonSchema({ type: "object", properties: {} } as never);
    server.registerTool("count", { inputSchema }, () => ({ content: [{ type: "text", text: String(++calls) }] }));
    return server;
  });
  const first = await serveHttp((request) => handler.fetch(request));
  await using mcp = mcpTools({ name: "s", url: first.url });
  expect(await call(mcp, "count")).toBe("1");
  const tools = await mcp.tools();
  await first.close();
  // Until the client has seen that the connection is closed.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await using _second = await serveHttp((request) => handler.fetch(request), Number(new URL(first.url).port));
  const model = scriptedModel([{ toolCalls: [{ name: "s__count" }] }, "Done."]);
  await new Agent({ model, tools }).run("Go.");
  expect(model.requests[1]?.messages.at(-1)?.content).toBe("2");
  expect(calls).toBe(2);
});
