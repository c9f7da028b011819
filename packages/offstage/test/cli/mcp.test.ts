// offstage mcp serves a store, and offstage chat uses the tools of servers.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseServer } from "../../src/cli/agents/mcp-servers.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { fakeOpenAI } from "../providers/fake-openai.ts";
import { offstage } from "./cli-world.ts";
import { openShop, type Shop } from "./shop-store.ts";

let shop: Shop;
const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));
const stdioServer = fileURLToPath(new URL("../mcp/stdio-server.ts", import.meta.url));

beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => rmSync(shop.folder, { recursive: true }));

/** Starts the command, and calls its tools as a client does. */
function serving(...words: string[]) {
  const stdin = new PassThrough();
  let [out, err] = ["", ""];
  const world = {
    stdin,
    stdout: {
      write(text: string) {
        out += text;
      },
    },
    stderr: {
      write(text: string) {
        err += text;
      },
    },
    env: {},
    cwd: shop.folder,
    signal: new AbortController().signal,
  };
  const code = runCli(["mcp", ...words], world);
  let id = 0;
  const ask = async (method: string, params: object = {}) => {
    const own = ++id;
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: own, method, params })}\n`);
    const answers = () => out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    await expect.poll(() => answers().find((each) => each.id === own), { timeout: 10_000 }).toBeDefined();
    return answers().find((each) => each.id === own).result;
  };
  const begin = () =>
    ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } });
  return { ask, begin, code, end: () => stdin.end(), err: () => err };
}

test("offstage mcp serves the record until the client is gone, and writes nothing", async () => {
  const server = serving();
  await server.begin();
  const { tools } = await server.ask("tools/list");
  expect(tools.map(({ name }: { name: string }) => name)).toEqual([
    "search_sessions",
    "show_session",
    "show_run",
    "tool_calls",
  ]);
  const { content } = await server.ask("tools/call", { name: "show_run", arguments: { run: shop.runs.waiting } });
  expect(JSON.parse(content[0].text)).toMatchObject({ run: shop.runs.waiting, status: "waiting" });
  server.end();
  expect(await server.code).toBe(0);
  expect(server.err()).toBe("");
});

test("offstage mcp --agent serves the agents of a module", async () => {
  const module = `
import { Agent } from "${source("index.ts")}";
import { scriptedModel } from "${source("testing/index.ts")}";
export default new Agent({ name: "desk", model: scriptedModel(["In Hamburg."]) });`;
  writeFileSync(join(shop.folder, "desk.ts"), module);
  const server = serving("--agent", "./desk.ts");
  await server.begin();
  const { content } = await server.ask("tools/call", {
    name: "ask_desk",
    arguments: { prompt: "Where?", session: "new" },
  });
  expect(content).toEqual([{ type: "text", text: "In Hamburg." }]);
  server.end();
  expect(await server.code).toBe(0);
  expect((await offstage(["show", "new"], { cwd: shop.folder })).out).toContain("In Hamburg.");
});

test("offstage mcp without a store says so", async () => {
  const server = serving("--store", "./none.db");
  expect(await server.code).toBe(3);
  expect(server.err()).toContain("There is no store");
});

test("offstage chat --mcp gives the model the tools of a server", async () => {
  await using model = await fakeOpenAI([
    { calls: [{ id: "c1", name: "tools__pid", input: {} }] },
    { text: ["That is its number."] },
  ]);
  const line = `tools=${process.execPath} ${stdioServer}`;
  const words = ["chat", "--model", "my/model", "--base-url", `${model.url}/v1`, "--mcp", line, "--trust"];
  const options = { cwd: shop.folder, env: { OPENAI_API_KEY: "key" }, input: "Which number?" };
  const result = await offstage(words, options);
  expect(result).toMatchObject({ code: 0, out: expect.stringContaining("That is its number.") });
  expect(result.out).toContain("tools__pid");
});

test("offstage chat asks about calls of a server that do not say that they only read", async () => {
  await using model = await fakeOpenAI([{ calls: [{ id: "c1", name: "tools__pid", input: {} }] }]);
  const line = `tools=${process.execPath} ${stdioServer}`;
  const words = ["chat", "--model", "my/model", "--base-url", `${model.url}/v1`, "--mcp", line];
  const result = await offstage(words, { cwd: shop.folder, env: { OPENAI_API_KEY: "key" }, input: "Which number?" });
  expect(result.err).toContain("1 call wait");
});

test("offstage chat --mcp needs a model", async () => {
  const result = await offstage(["chat", "--demo", "--mcp", "npx x"], { cwd: shop.folder });
  expect(result).toMatchObject({ code: 2, err: expect.stringContaining("--mcp goes with --model") });
});

test.for<[string, string, object]>([
  [
    "npx -y @modelcontextprotocol/server-filesystem@1.2.3 .",
    "server-filesystem",
    { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem@1.2.3", "."] },
  ],
  ["files=npx -y x 'a b' \"c d\"", "files", { command: "npx", args: ["-y", "x", "a b", "c d"] }],
  ["node ./tools/my-server.mjs --fast", "my-server", { command: "node", args: ["./tools/my-server.mjs", "--fast"] }],
  ["https://mcp.example.com/v1", "example_com", { url: "https://mcp.example.com/v1" }],
  ["shop=https://example.com/mcp?a=b", "shop", { url: "https://example.com/mcp?a=b" }],
])("%s is the server %s", ([line, name, place]) => {
  expect(parseServer(line)).toEqual({ name, place });
});
