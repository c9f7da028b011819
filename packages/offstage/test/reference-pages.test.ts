// The reference pages are complete: every option and every hook that the package accepts is on its page.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mcpServer, mcpTools } from "../src/doors/peers/mcp.ts";
import { serve } from "../src/doors/serve.ts";
import { Agent, isOffstageError, tool } from "../src/index.ts";
import { scriptedModel } from "../src/testing/index.ts";

const pageOf = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
const source = (path: string): string => readFileSync(new URL(`../src/${path}`, import.meta.url), "utf8");
const agent = new Agent({ model: scriptedModel([]) });
const wrong = { wrong: 1 } as never;

const places: Record<string, { readonly page: string; readonly pass: () => unknown }> = {
  "new Agent()": { page: "options.md", pass: () => new Agent(wrong) },
  "agent.run()": { page: "options.md", pass: () => agent.run("Hello.", wrong) },
  "agent.resume()": { page: "options.md", pass: () => agent.resume("some-run", wrong) },
  "agent.asTool()": { page: "use-subagents.md", pass: () => agent.asTool(wrong) },
  "mcpServer()": { page: "be-an-mcp-server.md", pass: () => mcpServer(wrong) },
  "mcpTools()": { page: "use-mcp-servers.md", pass: () => mcpTools(wrong) },
  "serve()": { page: "put-an-agent-behind-http.md", pass: () => serve(wrong) },
  "tool()": { page: "write-tools.md", pass: () => tool(wrong) },
  hooks: { page: "events.md", pass: () => agent.run("Hello.", { hooks: { onWrong() {} } as never }) },
};

test.for(Object.entries(places))("the page of %s names everything it accepts", async ([, { page, pass }]) => {
  const names = await validNames(pass);
  expect(names.length).toBeGreaterThan(4);
  const text = pageOf(page);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});

test("docs/events.md has one row for every event and no other", () => {
  const union = source("agent/ports/events.ts");
  const events = [...union.matchAll(/readonly type: "([a-z-]+)"/g)].map(([, type]) => type);
  const rows = [...pageOf("events.md").matchAll(/^\| `([a-z-]+)` \| (?:`on\w+`)? *\|/gm)].map(([, type]) => type);
  expect(rows.sort()).toEqual(events.sort());
});

// The error about an unknown name lists the valid ones.
async function validNames(pass: () => unknown): Promise<string[]> {
  try {
    await pass();
  } catch (error) {
    if (!isOffstageError(error, "invalid-argument")) throw error;
    const [, list = ""] = /Valid (?:options|hooks): (.+)\.$/.exec(error.message) ?? [];
    return list.split(", ");
  }
  return [];
}

test("docs/how-a-message-flows.md names files that exist", () => {
  const paths = [...pageOf("how-a-message-flows.md").matchAll(/`((?:agent|sessions)\/[\w./-]+\.ts)`/g)];
  expect(paths.length).toBeGreaterThan(10);
  for (const [, path = ""] of paths) expect(() => source(path), path).not.toThrow();
});

test("CONTRIBUTING.md tells the sizes of the eight files to read, to within a fifth", () => {
  const page = readFileSync(new URL("../../../CONTRIBUTING.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/\(packages\/offstage\/src\/([\w./-]+)\) \| (\d+) \|/g)];
  expect(rows).toHaveLength(8);
  for (const [, path = "", lines] of rows) {
    const actual = source(path).split("\n").length;
    expect(Math.abs(Number(lines) - actual), `${path} has ${actual} lines`).toBeLessThanOrEqual(actual / 5);
  }
});
