// offstage doctor: the health of the store, what needs attention and what to do about it, and the versions in use.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isOffstageError, type OffstageError } from "../../../errors.ts";
import { schemaVersion } from "../../../sessions/head/connection.ts";
import { type Store, storeSource } from "../../../sessions/store.ts";
import { version } from "../../../version.ts";
import { findPackage } from "../../agents/find-package.ts";
import { type Command, defineCommand, type ExitCode } from "../../command.ts";
import type { Io } from "../../io.ts";
import { columnsOf, wrap } from "../../output/columns.ts";
import { ago, counted, fileSize, short } from "../../output/words.ts";

interface Check {
  readonly check: string;
  readonly status: "ok" | "note" | "problem" | "absent";
  readonly found: string;
  /** The advice. */
  readonly advice: string | null;
}

export const command: Command = defineCommand({
  options: { verify: { type: "boolean", text: "read and check every row; takes a while on a large store" } },
  examples: ["offstage doctor", "offstage doctor --verify"],
  keys: ["check", "status", "found", "advice"],
  async run({ values: { verify = false } }, io) {
    let worst: ExitCode = 0;
    const tell = (check: Check): void => {
      if (check.status === "problem" && worst === 0) worst = 1;
      if (io.isJson) io.record(check);
      else for (const line of checkLines(io, check)) io.print(line);
    };
    for (const check of programChecks()) tell(check);
    try {
      const store = await io.openStore();
      for (const check of await storeChecks(store)) tell(check);
      for (const check of await runChecks(store)) tell(check);
      if (verify) for (const check of await verifyRows(io, store)) tell(check);
    } catch (error) {
      if (!isOffstageError(error)) throw error;
      tell(storeProblem(error));
      worst = 3;
    }
    for (const check of packageChecks(io)) tell(check);
    if (!verify && worst === 0 && !io.isJson) io.note("--verify also reads and checks every row.");
    return worst;
  },
});

const ok = (check: string, found: string): Check => ({ check, status: "ok", found, advice: null });

function programChecks(): Check[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isEnough = major > 22 || (major === 22 && minor >= 16);
  const node: Check = isEnough
    ? ok("Node", process.versions.node)
    : { check: "Node", status: "problem", found: process.versions.node, advice: "Use Node 22.16 or later." };
  return [ok("Offstage", version), node];
}

async function storeChecks(store: Store): Promise<Check[]> {
  const found = await (await store[storeSource].load()).open();
  const path = /^SQLite (?:file |at )?"(.+)"$/.exec(store.name)?.[1];
  const sizes =
    path === undefined || path === ":memory:" ? [] : ["", "-wal"].map((suffix) => sizeOf(resolve(path) + suffix));
  const size = sizes.length === 0 ? "" : `, ${fileSize(sizes.reduce((sum, each) => sum + each, 0))}`;
  const sessions = await store.sessions.list();
  const messages = sessions.reduce((sum, { messageCount }) => sum + messageCount, 0);
  const latest = sessions[0] === undefined ? "" : `; last active ${ago(sessions[0].lastActivityAt)}`;
  return [
    ok("store", `${store.name}${size}`),
    ok(
      "schema",
      found === schemaVersion
        ? `version ${found}`
        : `version ${found}, and this version of Offstage writes ${schemaVersion}`,
    ),
    ok("sessions", `${counted(sessions.length, "session")} with ${short(messages)} messages${latest}`),
  ];
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

async function runChecks(store: Store): Promise<Check[]> {
  const open = await store.runs.list({ status: ["running", "waiting", "interrupted"] });
  const of = (status: string) => open.filter((run) => run.status === status);
  const [running, waiting, interrupted] = [of("running"), of("waiting"), of("interrupted")];
  const failed = await store.runs.list({ status: "failed", since: Date.now() - 86_400_000 });
  const oldest = (runs: typeof open): string =>
    `${counted(runs.length, "run")}, the oldest begun ${ago(runs.at(-1)?.startedAt)}`;
  const checks: (Check | undefined)[] = [
    running.length === 0 ? undefined : ok("running", counted(running.length, "run")),
    waiting.length === 0
      ? undefined
      : {
          check: "waiting",
          status: "note",
          found: oldest(waiting),
          advice: "offstage inbox shows what they wait for, and how to decide it.",
        },
    interrupted.length === 0
      ? undefined
      : {
          check: "interrupted",
          status: "note",
          found: `${oldest(interrupted)}: their processes ended`,
          advice:
            "agent.resume(runId, { store }) continues them, offstage stop <run> ends them; offstage runs --status interrupted lists them.",
        },
    failed.length === 0
      ? undefined
      : {
          check: "failed",
          status: "note",
          found: `${counted(failed.length, "run")} since yesterday`,
          advice: "offstage runs --status failed, then offstage why <run>.",
        },
  ];
  const found = checks.filter((check) => check !== undefined);
  return found.length === 0 ? [ok("runs", "none is open, and none failed since yesterday")] : found;
}

const mostViolations = 20;

async function verifyRows(io: Io, store: Store): Promise<Check[]> {
  const problems = await store.verify({
    onProgress: (checked, total) => io.progress(`Checked ${checked} of ${counted(total, "session")} …`),
  });
  io.progress(undefined);
  if (problems.length === 0) return [ok("rows", "every row can be read, and they fit together")];
  const shown = problems.slice(0, mostViolations).map(({ sessionId, runId, problem }): Check => {
    const place = [sessionId && `session "${sessionId}"`, runId && `run "${runId}"`].filter(Boolean).join(", ");
    return { check: "rows", status: "problem", found: `${place === "" ? "" : `${place} `}${problem}`, advice: null };
  });
  const rest = problems.length - shown.length;
  const advice = "Restore a backup, or export what is readable: offstage export <session> --format jsonl.";
  return [
    ...shown,
    {
      check: "rows",
      status: "problem",
      found: rest > 0 ? `and ${rest} more` : counted(problems.length, "problem"),
      advice,
    },
  ];
}

function storeProblem({ code, message }: OffstageError): Check {
  return { check: "store", status: "problem", found: `${code}: ${message}`, advice: null };
}

/** The optional packages, and what needs them. */
const packages: Readonly<Record<string, string>> = {
  pg: "Postgres stores",
  "@redis/client": "Redis stores",
  "@opentelemetry/api": "OpenTelemetry",
  "gpt-tokenizer": "exact token counts",
  "@modelcontextprotocol/client": "tools of MCP servers",
  "@modelcontextprotocol/server": "offstage mcp",
  "@dbos-inc/dbos-sdk": "the DBOS engine",
  "@ai-sdk/openai": "offstage chat --model openai/…",
  "@ai-sdk/anthropic": "offstage chat --model anthropic/…",
  "@ai-sdk/openai-compatible": "offstage chat --model ollama/…, --base-url",
};

function packageChecks({ world: { cwd } }: Io): Check[] {
  return Object.entries(packages).map(([name, use]) => {
    const found = findPackage(name, cwd);
    if (found !== undefined) return ok(name, found.version);
    return { check: name, status: "absent", found: `not installed; needed for ${use}`, advice: null };
  });
}

const widestPackage = Math.max(...Object.keys(packages).map((name) => name.length));
const marks = { ok: ["✓", "green"], note: ["◆", "yellow"], problem: ["✗", "red"], absent: ["–", "dim"] } as const;

function checkLines(io: Io, { check, status, found, advice }: Check): string[] {
  const [mark, style] = marks[status];
  const nameWidth = check in packages ? widestPackage : 12;
  const name = check.padEnd(nameWidth);
  const indent = " ".repeat(4);
  const isBeside = columnsOf(name) <= nameWidth && io.width >= 48 + nameWidth;
  const room = isBeside ? io.width - nameWidth - 4 : io.width - indent.length;
  const [first = "", ...rest] = wrap(io.inline(found, 2000), room);
  const below = isBeside ? " ".repeat(nameWidth + 4) : indent;
  const head = isBeside
    ? [`${io.paint(style, mark)} ${io.paint("dim", name)}  ${first}`]
    : [`${io.paint(style, mark)} ${io.paint("dim", check)}`, `${indent}${first}`];
  const what =
    advice === null
      ? []
      : wrap(advice, io.width - below.length - 2).map(
          (line, index) => `${below}${io.paint("cyan", `${index === 0 ? "→" : " "} ${line}`)}`,
        );
  return [...head, ...rest.map((line) => `${below}${line}`), ...what];
}
