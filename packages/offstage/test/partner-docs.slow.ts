// Type-checks and runs the code of pages about other packages: blocks marked `interop`. Those marked `no-run` too need a key.
import { execFile } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { partnersFolder } from "./serve/partners.ts";
import { typeCheck } from "./support/doc-pages.ts";
import { installInterop } from "./support/interop.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = `${partnersFolder}.docs-${process.pid}/`;
const run = promisify(execFile);

interface Program {
  readonly name: string;
  readonly code: string;
  readonly isRun: boolean;
}

const programs: Program[] = globSync("docs/*.md", { cwd: root }).flatMap((path) => {
  const blocks = [...readFileSync(root + path, "utf8").matchAll(/^```ts ([^\n]*\binterop\b[^\n]*)\n([\s\S]*?)^```$/gm)];
  return blocks.map(([, info = "", code = ""], index) => {
    return { name: `${path.slice(5, -3)}-${index}.ts`, code, isRun: !info.includes("no-run") };
  });
});

// A model for the agents of the OpenAI Agents SDK, which need a key otherwise.
const preload = `
import { setDefaultModelProvider, setTracingDisabled, Usage } from "@openai/agents";
setTracingDisabled(true);
const text = (text) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] });
const call = { type: "function_call", callId: "c1", name: "weather", arguments: "{}", status: "completed" };
const getResponse = async ({ input }) => {
  const isAnswered = input.at(-1).type === "function_call_result";
  return { usage: new Usage(), output: [isAnswered ? text("It is sunny.") : call], responseId: "r" };
};
setDefaultModelProvider({ getModel: () => ({ getResponse }) });
`;

beforeAll(async () => {
  await installInterop("serve");
  mkdirSync(`${folder}node_modules`, { recursive: true });
  symlinkSync(`${root}packages/offstage`, `${folder}node_modules/offstage`, "dir");
  writeFileSync(`${folder}preload.mjs`, preload);
  writeFileSync(`${folder}package.json`, JSON.stringify({ type: "module" }));
  for (const { name, code } of programs) writeFileSync(folder + name, code);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("there are blocks about the AI SDK and about OpenAI Agents, before and after", () => {
  const count = (page: string, isRun: boolean) =>
    programs.filter((program) => program.name.startsWith(page) && program.isRun === isRun).length;
  for (const page of ["migrate-from-openai-agents", "migrate-from-the-ai-sdk"]) {
    expect(count(page, false)).toBeGreaterThan(1);
    expect(count(page, true)).toBeGreaterThan(1);
  }
});

test("every block type-checks with the real packages", async () => {
  const compilerOptions = {
    exactOptionalPropertyTypes: false,
    types: ["node"],
    typeRoots: [`${root}node_modules/@types`],
  };
  const files = programs.map(({ name }) => name);
  expect(await typeCheck(folder, { root, files, compilerOptions })).toBe("");
});

test.for(programs.filter(({ isRun }) => isRun))(
  "$name runs, and prints what its comments say",
  async ({ name, code }, { expect }) => {
    const { stdout, stderr } = await run(process.execPath, ["--import", "./preload.mjs", name], { cwd: folder });
    expect(stderr).toBe("");
    const promised = [...code.matchAll(/^\s*console\.log\(.*\); \/\/ (.+)$/gm)].map(([, text = ""]) => text);
    expect(promised.filter((text) => !stdout.includes(text))).toEqual([]);
  },
);
