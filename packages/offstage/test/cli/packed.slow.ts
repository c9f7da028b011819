// The packed package in an empty project, at real terminals of 40, 80 and 200 columns, with and without colour.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf } from "../../src/cli/output/columns.ts";
import { sqliteStore } from "../../src/index.ts";
import { fillShop } from "./shop-store.ts";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
const binFolder = join(packageFolder, "../../node_modules/.bin");
let project: string;
let socket: string;

// The package is packed as it is built, since a build of its own would remove what other tests read.
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "offstage-packed-"));
  socket = join(project, "tmux");
  const npm = (args: string[], cwd: string) =>
    execFileSync("npm", args, {
      cwd,
      env: { ...process.env, PATH: `${binFolder}:${process.env.PATH}` },
      stdio: "pipe",
    });
  npm(["pack", "--ignore-scripts", "--pack-destination", project], packageFolder);
  const packed = readdirSync(project).find((name) => name.endsWith(".tgz")) as string;
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  npm(["install", "--no-audit", "--no-fund", "--offline", `./${packed}`], project);
  const store = sqliteStore({ path: join(project, "offstage.db") });
  await fillShop(store);
  await store.close();
  writeFileSync(
    join(project, "agent.mjs"),
    `import { Agent, tool } from "offstage"; import { scriptedModel } from "offstage/testing";
const refund = tool({ name: "refund", needsApproval: true, execute: () => "paid" });
export default new Agent({ name: "payer", model: scriptedModel(({ messages }) => "It says: " + messages.at(-1).content), tools: [refund] });`,
  );
  mkdirSync(join(project, "home"));
});
afterAll(() => {
  spawnSync("tmux", ["-S", socket, "kill-server"]);
  rmSync(project, { recursive: true });
});

const offstage = (words: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(join(project, "node_modules/.bin/offstage"), words, {
    cwd: project,
    encoding: "utf8",
    env: { PATH: `${binFolder}:${process.env.PATH}`, HOME: join(project, "home"), ...env },
  });

const tmux = (...args: string[]): string =>
  execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], { encoding: "utf8" });

/** A command at a terminal of some columns. */
function terminal(
  line: string,
  columns: number,
  env = "",
): {
  type(...keys: string[]): void;
  shows(text: string | RegExp): Promise<string>;
  colours(): string;
  screen(): string;
} {
  const name = `t${Math.random().toString(36).slice(2)}`;
  const command = `cd '${project}' && env PATH='${binFolder}:'"$PATH" HOME='${project}/home' ${env} node_modules/.bin/offstage ${line}; echo "exit $?"; sleep 60`;
  tmux("new-session", "-d", "-s", name, "-x", String(columns), "-y", "90", command);
  const screen = (...more: string[]): string => tmux("capture-pane", "-p", "-t", name, ...more);
  return {
    type: (...keys) => void tmux("send-keys", "-t", name, ...keys),
    shows: async (text) => {
      await expect.poll(() => screen(), { timeout: 15_000, interval: 50 }).toMatch(text);
      return screen();
    },
    colours: () => screen("-e"),
    screen: () => screen(),
  };
}

const commands = [
  ...[
    "sessions",
    "show anna",
    "show anna --trace",
    "runs",
    "run last",
    "why last",
    "prompt anna",
    "trace anna",
    "timeline anna",
  ],
  ...["tools", "stats", "grep order", "inbox", "doctor", "--help", "sessions --help"],
];

describe.for([40, 80, 200])("at %i columns", (columns) => {
  test("every command fits, with colours and without", async () => {
    for (const line of commands)
      for (const env of ["", "NO_COLOR=1"]) {
        const shell = terminal(line, columns, env);
        const seen = await shell.shows(/exit 0/);
        for (const each of seen.split("\n")) expect(columnsOf(each)).toBeLessThanOrEqual(columns);
        const hasColours = shell.colours().includes("\u001b[");
        expect(hasColours, `${line} ${env}`).toBe(env === "");
      }
  });

  test("chat streams, collapses tools, asks, and Esc stops it", async () => {
    const shell = terminal(`chat talk-${columns} --demo`, columns);
    await shell.shows("Esc stops");
    const ended = async (runs: number): Promise<void> =>
      void (await expect.poll(() => shell.screen().match(/\d+ steps/g)?.length, { timeout: 15_000 }).toBe(runs));
    shell.type("Where is A-17?", "Enter");
    await shell.shows(/✓ look_up_order/);
    await shell.shows("2 steps");
    shell.type("And where is B-4?", "Enter");
    await shell.shows("Let me look");
    shell.type("I mean order A-17", "Enter");
    await shell.shows("it has read what you said");
    await ended(2);
    shell.type("My money back, please", "Enter");
    await shell.shows("run it");
    shell.type("y", "Enter");
    await shell.shows(/✓ refund/);
    await shell.shows(/on your\s+account|account\s+tomorrow/);
    await ended(3);
    shell.type("Another day of delivery", "Enter");
    await shell.shows("On which day");
    shell.type("thu", "Enter");
    await shell.shows("Agreed on Thursday");
    await ended(4);
    shell.type("Hello", "Enter");
    await shell.shows("I am a demonstration");
    shell.type("Escape");
    await shell.shows("stopped");
    shell.type("C-d");
    await shell.shows("exit 0");
    const runs = offstage(["runs", `talk-${columns}`, "--json"])
      .stdout.trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(runs.map(({ status }) => status)).toEqual(["stopped", "completed", "completed", "completed", "completed"]);
  });
});

test("a reader that closes the pipe is a success", () => {
  for (const line of ["sessions --json", "show anna --trace", "grep e --all --json", "export anna --format json"]) {
    const { stdout, stderr } = spawnSync(
      "bash",
      ["-c", `set -o pipefail; node_modules/.bin/offstage ${line} | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"`],
      {
        cwd: project,
        encoding: "utf8",
        env: { PATH: `${binFolder}:${process.env.PATH}`, HOME: join(project, "home") },
      },
    );
    expect(stdout.trim()).toBe("0");
    expect(stderr).toBe("");
  }
});

test("a run that waits is approved with an agent of the project", () => {
  const { status, stdout } = offstage(["approve", "money", "--agent", "./agent.mjs"]);
  expect(stdout).toContain("It says: paid");
  expect(status).toBe(0);
});

test("a message of 10 MB is shown whole within seconds", async () => {
  const store = sqliteStore({ path: join(project, "large.db") });
  await store.session("large").addItems([{ role: "user", content: `${"word ".repeat(2_000_000)}end.` }]);
  await store.close();
  const { stdout } = spawnSync(join(project, "node_modules/.bin/offstage"), ["show", "large", "--store", "large.db"], {
    cwd: project,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout: 30_000,
    env: { PATH: `${binFolder}:${process.env.PATH}` },
  });
  expect(stdout).toContain("end.");
});
