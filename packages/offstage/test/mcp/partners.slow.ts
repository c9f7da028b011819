// Real MCP servers and clients of others, from interop/mcp: the reference servers, a browser, the old SDK, the conformance suite.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type McpTools, mcpServer, mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent, memoryStore, user } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { installInterop, interopFolder } from "../support/interop.ts";
import { serveHttp } from "./http-server.ts";

const run = promisify(execFile);
const interop = interopFolder("mcp");
const conformanceClient = fileURLToPath(new URL("conformance-client.ts", import.meta.url));
const stdioProgram = fileURLToPath(new URL("serve-stdio.ts", import.meta.url));
const partner = (path: string): string => join(interop, "node_modules", path);
const scratch = mkdtempSync(join(tmpdir(), "offstage-partners-"));
const servers = partner("@modelcontextprotocol");
const chromium = "/usr/bin/chromium";

beforeAll(() => installInterop("mcp"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const started = (name: string, ...args: string[]): McpTools =>
  mcpTools({ name, command: process.execPath, args, timeoutMs: 60_000, cwd: scratch });

/** Runs an agent that makes these calls, one per step; returns the results and what the model saw of them. */
async function calls(mcp: McpTools, ...list: readonly [string, object?][]) {
  const replies = list.map(([name, input = {}]) => ({ toolCalls: [{ name: `${mcp.name}__${name}`, input }] }));
  const model = scriptedModel([...replies, "Done."]);
  const { steps } = await new Agent({ model, tools: await mcp.tools() }).run("Go.");
  return { results: steps.flatMap(({ toolResults }) => toolResults), seen: model.requests.at(-1)?.messages ?? [] };
}

describe("server-everything", () => {
  const everything = join(servers, "server-everything/dist/index.js");

  test("its tools, resources, prompts and instructions are there", async () => {
    await using mcp = started("everything", everything);
    const { results } = await calls(
      mcp,
      ["echo", { message: "hello" }],
      ["get-tiny-image"],
      ["get-structured-content", { location: "New York" }],
      ["get-env"],
    );
    expect(results[0]?.content).toContain("hello");
    expect(results[1]?.content).toContainEqual({
      type: "image_url",
      image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) },
    });
    expect(results[2]?.output).toMatchObject({ temperature: expect.any(Number), conditions: expect.any(String) });
    const environment = Object.keys(JSON.parse(String(results[3]?.output)) as object);
    expect(environment.filter((name) => !["PATH", "HOME", "PWD"].includes(name))).toEqual([]);
    expect(mcp.instructions).toBeTruthy();
    expect(await mcp.resources()).not.toEqual([]);
    expect(await mcp.prompt("simple-prompt")).toMatchObject([{ role: "user" }]);
  });

  test("on HTTP, and an abort ends a long call", async () => {
    const server = spawn(process.execPath, [everything, "streamableHttp"], {
      env: { PORT: "34517" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void server.kill());
    await new Promise((resolve) =>
      server.stderr.on("data", (chunk) => String(chunk).includes("listening") && resolve(chunk)),
    );
    await using mcp = mcpTools({ name: "everything", url: "http://127.0.0.1:34517/mcp" });
    const { results } = await calls(mcp, ["echo", { message: "over HTTP" }]);
    expect(results[0]?.content).toContain("over HTTP");
    const model = scriptedModel([
      { toolCalls: [{ name: "everything__trigger-long-running-operation", input: { duration: 60, steps: 60 } }] },
    ]);
    const agent = new Agent({ model, tools: await mcp.tools() });
    const began = performance.now();
    await expect(agent.run("Go.", { signal: AbortSignal.timeout(500) })).rejects.toThrow();
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

test("server-filesystem reads and writes files in its folder, and nowhere else", async () => {
  writeFileSync(join(scratch, "notes.txt"), "Order 17 is in Hamburg.");
  await using mcp = started("files", join(servers, "server-filesystem/dist/index.js"), scratch);
  const { results } = await calls(
    mcp,
    ["read_text_file", { path: join(scratch, "notes.txt") }],
    ["write_file", { path: join(scratch, "new.txt"), content: "x" }],
    ["read_text_file", { path: "/etc/passwd" }],
  );
  expect(JSON.stringify(results[0]?.output)).toContain("Hamburg");
  expect(existsSync(join(scratch, "new.txt"))).toBe(true);
  expect(results[2]).toMatchObject({ isError: true });
});

test("a screenshot of a browser reaches the model as an image", async ({ skip }) => {
  if (!existsSync(chromium)) {
    if (process.env.CI === "true") throw new Error(`${chromium} is missing.`);
    process.stderr.write("\n!!! NO CHROMIUM: the browser is not tested.\n\n");
    return skip();
  }
  await using page = await serveHttp(
    () => new Response("<h1>Offstage</h1>", { headers: { "content-type": "text/html" } }),
  );
  const flags = ["--headless", "--isolated", "--no-sandbox", "--executable-path", chromium, "--output-dir", scratch];
  await using mcp = started("browser", partner("@playwright/mcp/cli.js"), ...flags);
  const { results, seen } = await calls(mcp, ["browser_navigate", { url: page.url }], ["browser_take_screenshot"]);
  expect(results[0]?.isError).toBe(false);
  const shot = seen.findLast(({ role }) => role === "tool");
  expect(shot?.content).toContainEqual({
    type: "file",
    mediaType: "image/png",
    data: { type: "data", data: expect.stringMatching(/^iVBORw0KGgo/) },
  });
});

describe("the SDK of the first generation", () => {
  test("an old server works, on standard input and output", async () => {
    await using mcp = started("old", join(interop, "old-server.js"));
    const { results } = await calls(mcp, ["add", { a: 2, b: 3 }], ["weather"]);
    expect(results.map(({ output }) => output)).toEqual(["5", { celsius: 21 }]);
  });

  test("an old server on HTTP works, and a new session is opened when it was started anew", async () => {
    const start = (port: number) => {
      const server = spawn(process.execPath, [join(interop, "old-server.js"), String(port)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const address = new Promise<string>((resolve) =>
        server.stdout.once("data", (line) => resolve(String(line).trim())),
      );
      onTestFinished(() => void server.kill("SIGKILL"));
      return { server, address };
    };
    const first = start(0);
    const url = await first.address;
    await using mcp = mcpTools({ name: "old", url });
    expect((await calls(mcp, ["add", { a: 1, b: 1 }])).results[0]?.output).toBe("2");
    const tools = await mcp.tools();
    const ended = new Promise((resolve) => first.server.once("exit", resolve));
    first.server.kill("SIGKILL");
    await ended;
    await start(Number(new URL(url).port)).address;
    const model = scriptedModel([{ toolCalls: [{ name: "old__add", input: { a: 2, b: 2 } }] }, "Done."]);
    const { steps } = await new Agent({ model, tools }).run("Go.");
    expect(steps[0]?.toolResults[0]?.output).toBe("4");
  });

  test("a question of an old server pauses the run, and the call is made again with the answer", async () => {
    const store = memoryStore();
    const model = scriptedModel([{ toolCalls: [{ name: "old__book", id: "b1" }] }, "Booked."]);
    await using mcp = started("old", join(interop, "old-server.js"));
    const agent = new Agent({ model, tools: () => mcp.tools() });
    const paused = await agent.run("Book.", { session: store.session("anna") });
    expect(paused.approvals).toMatchObject([{ kind: "question", message: "Which seat?" }]);
    await agent.resume(paused.runId, { store, answers: [{ toolCallId: "b1", value: { seat: "12A" } }] });
    expect(model.requests[1]?.messages.at(-1)?.content).toBe("Booked 12A.");
  });

  const oldClient = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, [join(interop, "old-client.js"), ...args]);
    return JSON.parse(stdout) as { tools: string[]; content: { text: string }[]; isError: boolean };
  };

  test("an old client reads our record over HTTP", async () => {
    const store = memoryStore();
    await store.session("anna").addItems([user("Where is order 17?")]);
    await using server = mcpServer({ store, authorize: () => ({}) });
    await using http = await serveHttp(server.fetch);
    const { tools, content } = await oldClient("search_sessions", '{"text":"order"}', http.url);
    expect(tools).toEqual(["search_sessions", "show_session", "show_run", "tool_calls"]);
    expect(content[0]?.text).toContain("Where is order 17?");
  });

  test("an old client on standard input and output asks our agent, and answers its question", async () => {
    const { content, isError } = await oldClient("ask_desk", '{"prompt":"Refund."}', process.execPath, stdioProgram);
    expect([content[0]?.text, isError]).toEqual(["Paid.", false]);
  });
});

describe("the conformance suite", () => {
  const suite = partner("@modelcontextprotocol/conformance/dist/index.js");
  const conformance = (...args: string[]) =>
    run(process.execPath, [suite, ...args], { cwd: scratch, maxBuffer: 2 ** 26 });

  test.for([
    ...["initialize", "tools_call", "sse-retry", "elicitation-sep1034-client-defaults"],
    ...["metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd", "pre-registration"].map(
      (name) => `auth/${name}`,
    ),
    ...["scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"].map(
      (name) => `auth/${name}`,
    ),
    ...["scope-step-up", "scope-retry-limit", "resource-mismatch"].map((name) => `auth/${name}`),
    ...["basic", "post", "none"].map((name) => `auth/token-endpoint-auth-${name}`),
  ])("our client passes %s", async (scenario) => {
    const command = `${process.execPath} ${conformanceClient}`;
    await conformance("client", "--command", command, "--scenario", scenario);
  });

  test.for(["server-initialize", "ping", "tools-list", "dns-rebinding-protection"])(
    "our server passes %s",
    async (scenario) => {
      // A server that a browser can reach checks the host, as any server on this machine should.
      const authorize = (request: Request) => (new URL(request.url).hostname === "127.0.0.1" ? {} : undefined);
      await using server = mcpServer({ store: memoryStore(), authorize });
      await using http = await serveHttp(server.fetch);
      await conformance("server", "--url", http.url, "--scenario", scenario);
    },
  );
});
