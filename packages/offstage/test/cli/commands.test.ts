// The commands of the command line, without a terminal, on one store.
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCommands } from "../../src/cli/table.ts";
import { Agent, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { type CliOptions, type CliResult, offstage } from "./cli-world.ts";
import { openShop, type Shop, secret } from "./shop-store.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => rmSync(shop.folder, { recursive: true }));

const ask = (line: string, options: CliOptions = {}): Promise<CliResult> =>
  offstage(line.split(" "), { cwd: shop.folder, ...options });

const commands = await loadCommands();
const reading = [
  ...["sessions", "show anna", "show anna --trace", "runs", "runs anna", "run last", "why last", "prompt anna"],
  ...["prompt anna --diff", "trace anna", "timeline anna", "tools", "tools anna", "stats", "stats --by agent,model"],
  ...["stats --by tool", "grep order", "export anna --format jsonl", "doctor", "doctor --verify", "tag anna", "inbox"],
];

describe("reading", () => {
  test.for(reading)("offstage %s finds something, and writes nothing", async (line) => {
    const before = createHash("sha256").update(readFileSync(shop.path)).digest("hex");
    const { code, out, err } = await ask(line);
    expect(code, err).toBe(0);
    expect(out).not.toBe("");
    expect(createHash("sha256").update(readFileSync(shop.path)).digest("hex")).toBe(before);
  });

  test("sessions tell titles, what needs attention, tokens and cost", async () => {
    const { out } = await ask("sessions", { width: 120 });
    expect(out).toMatch(/◆ {2}money +Refund 80 euros\. .* waiting/);
    expect(out).toMatch(/✗ {2}broken .* failed/);
    expect(out).toMatch(/✓ {2}anna +Where is my order A-17\? .*\$0\.0/);
    expect((await ask("sessions --status failed")).out).not.toContain("anna");
    expect((await ask("sessions refund --json")).records.map(({ sessionId }) => sessionId)).toEqual(["money"]);
  });

  test("show tells what was said, and --trace what was done", async () => {
    const said = (await ask("show anna")).out;
    expect(said).toContain("Your order went to the old address.");
    expect(said).not.toContain("I will check.");
    expect(said).toContain(`run ${shop.runs.answered.slice(0, 8)} · 2 steps`);
    const done = (await ask("show anna --trace --turn 1")).out;
    expect(done).toContain("I will check.");
    expect(done).toContain("↳ reviewer");
    expect(done).toContain("✓ look_up_order");
    expect(done).not.toContain("money back");
  });

  test("doctor lists every optional package, and marks those that are missing", async () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    const { records } = await ask("doctor --json");
    const names = records.map(({ check }) => check);
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.peerDependenciesMeta)));
    const dbos = records.find(({ check }) => check === "@dbos-inc/dbos-sdk");
    expect(dbos).toMatchObject({ status: "absent", found: "not installed; needed for the DBOS engine" });
    expect((await ask("doctor")).out).toContain("– @dbos-inc/dbos-sdk");
  });

  test("runs are found by the label of their feedback", async () => {
    const { records } = await ask("runs --label bad --json");
    expect(records.map(({ runId }) => runId)).toEqual([shop.runs.failed]);
    expect((await ask("runs --label good")).code).toBe(1);
  });

  test("a cost that is not known is left out everywhere", async () => {
    const store = sqliteStore({ path: shop.path });
    const model = scriptedModel([{ text: "Hello.", usage: { inputTokens: 5, outputTokens: 5 } }], { modelId: "home" });
    await new Agent({ name: "free", model }).run("Hello.", { session: store.session("free") });
    try {
      expect((await ask("stats --by agent", { width: 120 })).out).toMatch(/^free +1 +10 {2,}\d/m);
      for (const line of ["sessions --json", "sessions --all --json"])
        expect((await ask(line)).records.find(({ sessionId }) => sessionId === "free")).toMatchObject({ cost: null });
    } finally {
      await store.sessions.delete("free");
      await store.close();
    }
  });

  test("why names the error, the votes and the failed calls", async () => {
    expect((await ask(`why ${shop.runs.failed}`)).out).toContain("The provider is down.");
    expect((await ask(`why ${shop.runs.stopped}`)).out).toMatch(
      /stop +step-limit +The run reached its limit of 1 step/,
    );
    const failed = (await ask(`why ${shop.runs.toolFailed}`)).out;
    expect(failed).toContain("1 of its 1 tool call failed.");
    expect(failed).toContain("✗ till");
    expect((await ask(`why ${shop.runs.waiting}`)).out).toContain("waits for a person to decide about 1 call");
  });

  test("why names a run by an id that finds it, and an old run has its day once", async () => {
    const store = sqliteStore({ path: shop.path });
    const agent = new Agent({ model: scriptedModel(["One.", "Two."]) });
    for (const runId of ["order-2026-a", "order-2026-b"])
      await agent.run("Go.", { session: store.session("orders"), runId });
    await store.close();
    const { out } = await ask("why order-2026-a");
    expect(out).toContain("offstage run order-2026-a ");
    const database = new DatabaseSync(shop.path);
    database.exec("UPDATE runs SET started_at = '2020-02-02T12:00:00.000Z' WHERE run_id = 'order-2026-a'");
    database.close();
    expect((await ask("run order-2026-a")).out).toMatch(/begun +2020-02-0\d \S+, took/);
    const later = sqliteStore({ path: shop.path });
    await later.sessions.delete("orders");
    await later.close();
  });

  test("prompt is what the model saw, and --diff what is new", async () => {
    const { out } = await ask(`prompt ${shop.runs.answered} --step 1`);
    expect(out).toContain("You help customers.");
    expect((await ask(`prompt ${shop.runs.answered} --step 2 --diff`)).out).not.toContain("You help customers.");
    const { records } = await ask(`prompt ${shop.runs.answered} --step 2 --json`);
    expect(records[0]).toMatchObject({
      step: 2,
      modelId: "gpt-5-mini",
      changes: { added: [{ role: "assistant" }, { role: "tool" }] },
    });
    // The step in which the model failed.
    expect((await ask(`prompt ${shop.runs.failed} --json`)).records[0]).toMatchObject({ step: 2 });
  });

  test("timeline has two columns where the width allows", async () => {
    expect((await ask("timeline anna", { width: 100 })).out).toMatch(/^said +│ done$/m);
    expect((await ask("timeline anna", { width: 40 })).out).toMatch(/^ {2}│ ✓ reviewer/m);
  });

  test("grep finds text and patterns, by tool, stream and session", async () => {
    expect((await ask("grep till --stream said")).out).toContain("I cannot open the till.");
    expect((await ask("grep A-\\d+ --regex --json")).records.length).toBeGreaterThan(2);
    expect((await ask("grep locked --tool till --errors --json")).records).toHaveLength(1);
    const none = await ask("grep nothing-like-this");
    expect(none).toMatchObject({ code: 1, out: "", err: 'Nothing found for "nothing-like-this".\n' });
  });

  test("tail prints runs of other processes as they happen, until it is stopped", async () => {
    const stopping = new AbortController();
    const store = sqliteStore({ path: shop.path });
    let seen = "";
    const tailing = ask("tail --last 1", {
      signal: stopping.signal,
      onOutput: (text) => {
        seen += text;
        if (seen.includes("You are welcome.")) stopping.abort();
      },
    });
    await expect.poll(() => seen, { timeout: 5000 }).toContain("Refund 80 euros.");
    await new Agent({ name: "late", model: scriptedModel(["You are welcome."]) }).run("Thank you.", {
      session: store.session("late"),
    });
    expect((await tailing).code).toBe(0);
    expect(seen).toContain("▶ late");
    await store.sessions.delete("late");
    await store.close();
  });
});

describe("tail", () => {
  test("a run that is running is shown whatever --last says, and subagents do not count", async () => {
    const store = sqliteStore({ path: shop.path });
    let finish = (): void => {};
    const isFinished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const helper = new Agent({ name: "helper", model: scriptedModel(["Looked it up."]) });
    const wait = tool({ name: "wait", execute: () => isFinished.then(() => "waited") });
    const script = [{ toolCalls: [{ name: "helper", input: { prompt: "Look." } }] }, { toolCalls: [{ name: "wait" }] }];
    const slow = new Agent({
      ...{ name: "slow", model: scriptedModel([...script, "Done."]) },
      tools: [wait, helper.asTool()],
    });
    const running = slow.run("Take your time.", { session: store.session("slow") });
    const startsSeen = async (line: string, end: string): Promise<string[]> => {
      const stopping = new AbortController();
      let seen = "";
      const onOutput = (text: string): void => {
        seen += text;
        if (seen.includes(end)) stopping.abort();
      };
      await ask(line, { signal: stopping.signal, onOutput });
      return [...seen.matchAll(/▶ (\w+)/g)].map(([, agent]) => agent as string);
    };
    try {
      await expect
        .poll(() => store.runs.list({ agent: "helper", status: "completed", subagents: true }))
        .toHaveLength(1);
      expect(await startsSeen("tail --last 0", "Looked it up.")).toEqual(["slow", "helper"]);
      finish();
      await running;
      expect(await startsSeen("tail --last 1", "Looked it up.")).toEqual(["slow", "helper"]);
    } finally {
      await store.sessions.delete("slow");
      await store.close();
    }
  });
});

describe("secrets", () => {
  test.for(reading.filter((line) => !line.startsWith("export")))("offstage %s shows no key", async (line) => {
    expect((await ask(line)).out).not.toContain(secret);
    expect((await ask(`${line} --json`)).out).not.toContain(secret);
  });

  test("--reveal shows them, and export has them unless --redact is given", async () => {
    expect((await ask("grep locked --reveal", { width: 200 })).out).toContain(secret);
    expect((await ask("export anna --format json")).out).toContain(secret);
    expect((await ask("export anna --format json --redact")).out).not.toContain(secret);
  });

  test("a password in an address is never echoed", async () => {
    for (const line of [
      "sessions --store postgress://ann:hunter2@db/x",
      "sessions --store postgres://ann:hun@ter2@127.0.0.1:1/x",
      "sessions a postgres://ann:hunter2@db/x",
      "postgres://ann:hunter2@db/x",
    ]) {
      const { code, err } = await ask(line);
      expect([2, 3]).toContain(code);
      expect(err).not.toMatch(/hunter2|ter2@/);
    }
  });
});

describe("ids", () => {
  test("match by an unambiguous beginning, and a session means its latest run", async () => {
    const { runs } = shop;
    expect((await ask(`run ${runs.answered.slice(0, 9)} --json`)).records[0]?.runId).toBe(runs.answered);
    expect((await ask("show ann --json")).records[0]?.sessionId).toBe("anna");
    expect((await ask("run anna --json")).records[0]?.runId).toBe(runs.toolFailed);
    expect((await ask("run last --json")).records[0]?.runId).toBe(runs.waiting);
    expect((await ask("show last --json")).records[0]?.sessionId).toBe("money");
  });

  test("an ambiguous beginning lists what it could mean, and an unknown one is not found", async () => {
    const store = sqliteStore({ path: shop.path });
    for (const id of ["twin-1", "twin-2", "-x", "--help"])
      await store.session(id).addItems([{ role: "user", content: `I am ${id}` }]);
    await store.close();
    const { code, err } = await ask("show twin");
    expect(code).toBe(1);
    expect(err).toContain('2 sessions begin with "twin"');
    expect((await ask("show nobody")).err).toBe(
      'offstage: There is no session "nobody". offstage sessions lists them.\n',
    );
    expect((await ask("run nobody")).code).toBe(1);
    // Ids that look like flags.
    expect((await ask("show -- -x")).out).toContain("I am -x");
    expect((await ask("show -- --help")).out).toContain("I am --help");
    expect((await ask("show -x")).err).toContain('write it behind "--": offstage show -- -x');
    const writing = sqliteStore({ path: shop.path });
    for (const id of ["twin-1", "twin-2", "-x", "--help"]) await writing.sessions.delete(id);
    await writing.close();
  });
});

describe("usage", () => {
  test("without a command it prints the commands, and exits with 2", async () => {
    const { code, out } = await offstage([]);
    expect(code).toBe(2);
    for (const { row } of commands) expect(out).toContain(row.summary);
    expect((await offstage(["--help"])).code).toBe(0);
    expect((await offstage(["--version"])).out).toMatch(/^\d+\.\d+\.\d+/);
  });

  test("a misspelt command lists the commands", async () => {
    const { code, err } = await ask("sesions");
    expect(code).toBe(2);
    for (const { row } of commands) expect(err).toContain(row.name);
  });

  test.for(commands)("offstage $row.name --help has its options and an example", async ({ row, command }) => {
    for (const words of [
      [row.name, "--help"],
      ["help", row.name],
      [row.name, "x", "-h"],
    ]) {
      const { code, out } = await offstage(words);
      expect(code).toBe(0);
      for (const name of Object.keys(command.options)) expect(out).toContain(`--${name}`);
      expect(command.examples.length).toBeGreaterThan(0);
      for (const example of command.examples) expect(out).toContain(example);
    }
  });

  test.for([
    ["show", "needs <session|last>"],
    ["stats extra", "takes no argument"],
    ["sessions --limit many", "takes a whole number"],
    ["sessions --limit -1", '--limit takes a whole number; found "-1".'],
    ["sessions --since -1d", "Write one that begins with a dash as --since=-1d."],
    ["sessions --since soon", "takes an age such as 2d"],
    ["sessions --status sad", 'Unknown --status "sad". Valid values: running'],
    ["sessions --colour", "Unknown option '--colour'"],
    ["grep ( --regex", "invalid-argument"],
    ["show anna --turn 9", "There is no turn 9"],
    ["prune", "needs --older-than"],
    ["annotate last", "needs --label"],
    ["completion tcsh", 'Unknown shell "tcsh"'],
  ])("offstage %s is wrong usage", async ([line, sentence]) => {
    const { code, err, out } = await ask(line as string);
    expect(code).toBe(2);
    expect(err).toContain(sentence);
    expect(out).toBe("");
  });

  test("a store that is not there, or is another program's, is exit code 3 with the code of the error", async () => {
    expect(await ask("sessions --store nowhere.db")).toMatchObject({
      code: 3,
      err: expect.stringContaining("store-failed: There is no store"),
    });
    writeFileSync(`${shop.folder}/notes.txt`, "hello");
    expect(await ask("sessions --store notes.txt")).toMatchObject({
      code: 3,
      err: expect.stringContaining("store-foreign:"),
    });
  });

  test("an empty list is exit code 1", async () => {
    expect(await ask("sessions --agent nobody")).toMatchObject({ code: 1, out: "", err: "No sessions.\n" });
    expect((await ask("runs --status running")).code).toBe(1);
    expect((await ask("tools loop --since 2200-01-01")).code).toBe(1);
    expect((await ask("stats --since 2200-01-01")).code).toBe(1);
  });
});

describe("--json", () => {
  const lines: Record<string, string> = {
    ...{
      sessions: "sessions",
      show: "show anna --trace",
      runs: "runs",
      run: "run last",
      why: "why last",
      prompt: "prompt anna",
    },
    ...{
      trace: "trace anna",
      timeline: "timeline anna",
      tools: "tools",
      stats: "stats --by day,agent",
      grep: "grep order",
    },
    ...{
      doctor: "doctor",
      tag: "tag anna one",
      title: "title anna Hello",
      annotate: "annotate last --label good",
      inbox: "inbox",
    },
    ...{
      prune: "prune --older-than 1s",
      completion: "completion bash",
      export: "export anna --out anna.md --yes",
      backup: "backup b.db",
    },
  };

  test.for(Object.entries(lines))("the keys of %s are those that its help lists", async ([name, line]) => {
    const spec = commands.find(({ row }) => row.name === name);
    const { code, records } = await ask(`${line} --json`);
    expect(code).toBe(0);
    expect(records.length).toBeGreaterThan(0);
    for (const record of records) expect(Object.keys(record).sort()).toEqual([...(spec?.command.keys ?? [])].sort());
  });
});
