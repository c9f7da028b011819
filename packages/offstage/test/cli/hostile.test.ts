// Hostile ids, titles, texts and tool names: they steer no terminal and break no table, in any command, width and colour.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { columnsOf } from "../../src/cli/output/columns.ts";
import { Agent, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { offstage } from "./cli-world.ts";

// Colours, cursor movements, titles, links, 8-bit controls, bidi, tags, wide and combining letters, line breaks.
const corpus = [
  "\u001b[2J\u001b[H\u001b[31mred",
  "\u001b]0;owned\u0007\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\",
  "\u009b31m\u009d0;owned\u009c\u0090q\u009c",
  "a\rb\nc\u000bd\u000ce\u0085f\u2028g\u2029h",
  "\u202egnp.exe\u202c\u2066x\u2069\u200f",
  `Z${"\u0300\u0301\u0302\u0303".repeat(50)}`,
  "江戸川区の注文はどこですか🚀👩‍👩‍👧‍👦🇩🇪",
  "\u{e0041}\u{e0042}hidden\ufeff\u200b",
  "\ttab\ttab\b\b\b\u007f",
  "x".repeat(400),
];

let folder: string;
let runId = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "offstage-hostile-"));
  const store = sqliteStore({ path: join(folder, "offstage.db") });
  for (const [index, text] of corpus.entries()) {
    const session = store.session(`${text.slice(0, 60)}${index}`);
    const bad = tool({ name: `t${index}`, execute: () => Promise.reject(new Error(text)) });
    const model = scriptedModel(
      [
        {
          text,
          toolCalls: [
            { name: bad.name, input: { text } },
            { name: text, input: {} },
          ],
        },
        text,
      ],
      {
        modelId: text,
        provider: text,
      },
    );
    const agent = new Agent({ name: text, instructions: text, model, tools: [bad] });
    ({ runId } = await agent.run(text, { session }));
    await session.describe({ title: text, metadata: { tags: [text], text } });
    await store.annotate({ runId, label: text, note: text, by: text });
    const waits = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
    const asks = scriptedModel([{ toolCalls: [{ name: "pay", id: text, input: { text } }] }]);
    await new Agent({ name: text, model: asks, tools: [waits] }).run(text, { session });
  }
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

const lines = [
  ...[
    "sessions --all",
    "runs --all --subagents",
    "run RUN",
    "run RUN --full",
    "why RUN",
    "prompt RUN",
    "prompt RUN --diff",
  ],
  ...[
    "trace RUN",
    "timeline RUN",
    "tools",
    "stats --by agent,model,status",
    "stats --by session,tool",
    "inbox",
    "doctor --verify",
  ],
  ...["grep a", "grep 31m", "show last", "show last --trace", "timeline last", "tools last", "tail"],
];

const colors = new RegExp(`${String.fromCharCode(27)}\\[\\d+(;\\d+)*m`, "g");
// Everything that could control a terminal or hide text, except line breaks.
const active =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

test.for([40, 80, 200])("no command steers a terminal or breaks a line at %i columns", async (width) => {
  for (const line of lines)
    for (const mode of [[], ["--no-color"], ["--json"]]) {
      const words = line.split(" ").map((word) => (word === "RUN" ? runId : word));
      const signal = line === "tail" ? AbortSignal.timeout(50) : new AbortController().signal;
      const { out, err, code } = await offstage([...words, ...mode], { width, isTerminal: true, cwd: folder, signal });
      const where = `${words.join(" ")} ${mode}`;
      expect(code, `${where}: ${err}`).toBe(0);
      const plain = mode.length === 0 ? out.replace(colors, "") : out;
      expect(active.exec(plain)?.[0], where).toBeUndefined();
      expect(active.exec(err)?.[0], where).toBeUndefined();
      if (mode[0] === "--json") for (const each of out.trim().split("\n")) JSON.parse(each);
      else
        for (const each of plain.split("\n")) expect(columnsOf(each), `${where}: ${each}`).toBeLessThanOrEqual(width);
    }
});

test.for(corpus)("errors about %j are inert", async (text) => {
  for (const words of [
    [text],
    ["show", text],
    ["run", text],
    ["sessions", "--status", text],
    ["export", "last", "--out", text],
    ["import", text],
  ]) {
    const { err } = await offstage([...words.slice(0, -1), "--", ...words.slice(-1)], {
      cwd: join(folder, "none"),
      env: { OFFSTAGE_STORE: join(folder, "offstage.db") },
    });
    expect(active.exec(err)?.[0]).toBeUndefined();
  }
});
