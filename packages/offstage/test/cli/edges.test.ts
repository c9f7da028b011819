// The edges of the command line: stores that are sealed, newer, damaged or being written, and messages of megabytes.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encryptedStore, sqliteStore } from "../../src/index.ts";
import { type CliResult, offstage } from "./cli-world.ts";
import { fillShop, openShop, type Shop } from "./shop-store.ts";

let shop: Shop;
let folder: string;
beforeAll(async () => {
  shop = await openShop();
  folder = shop.folder;
});
afterAll(() => rmSync(folder, { recursive: true }));

const ask = (line: string, env: Record<string, string> = {}): Promise<CliResult> =>
  offstage(line.split(" "), { cwd: folder, env });

const change = (file: string, sql: string): string => {
  const path = join(folder, file);
  copyFileSync(shop.path, path);
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return file;
};

describe("stores", () => {
  test("an encrypted store needs its key, and --key-env names the variable that has it", async () => {
    const key = "ab".repeat(32);
    const store = encryptedStore(sqliteStore({ path: join(folder, "sealed.db") }), { key });
    await fillShop(store);
    await store.close();
    const refused = await ask("sessions --store sealed.db");
    expect(refused.code).toBe(3);
    expect(refused.err).toMatch(/^offstage: wrong-key: .*--key-env/);
    expect((await ask("sessions --store sealed.db --key-env KEY", { KEY: key })).out).toContain("Refund 80 euros.");
    expect((await ask("sessions --store sealed.db --key-env KEY")).err).toContain(
      'the variable "KEY", which is not set',
    );
    expect((await ask("sessions --store sealed.db --key-env KEY", { KEY: "cd".repeat(32) })).code).toBe(3);
    expect((await ask("sessions --key-env KEY", { KEY: key })).err).toMatch(/wrong-key: .* is not encrypted/);
    expect((await ask("backup sealed-copy.db --store sealed.db")).code).toBe(0);
  });

  test("a newer schema is refused and left as it is", async () => {
    const file = change("newer.db", "PRAGMA user_version = 99");
    const before = readFileSync(join(folder, file));
    for (const line of ["sessions", "title anna Hello", "prune --older-than 1s --yes"]) {
      const { code, err } = await ask(`${line} --store ${file}`);
      expect(code).toBe(3);
      expect(err).toContain("schema-newer:");
    }
    expect((await ask(`doctor --store ${file}`)).out).toContain("schema-newer");
    expect(readFileSync(join(folder, file)).equals(before)).toBe(true);
  });

  test("damaged rows are told once, at the end, and the rest is shown", async () => {
    const file = change("damaged.db", "UPDATE sessions SET metadata = 'no json' WHERE session_id IN ('loop', 'money')");
    const { code, out, err } = await ask(`sessions --store ${file}`);
    expect(code).toBe(0);
    expect(out).toContain("Where is my order A-17?");
    expect(err).toMatch(
      /^offstage: store-corrupt: 2 rows could not be read and are left out\. offstage doctor --verify lists all\.\n/,
    );
    expect(err.match(/could not be read and are left out/g)).toHaveLength(1);
    const doctor = await ask(`doctor --verify --store ${file}`);
    expect(doctor.code).toBe(1);
    expect(doctor.out).toContain("✗ rows");
  });

  test("a namespace is a store of its own", async () => {
    const store = sqliteStore({ path: shop.path }).namespace("tenant-b");
    await store.session("bert").addItems([{ role: "user", content: "Hello" }]);
    await store.close();
    expect((await ask("sessions --namespace tenant-b")).out).not.toContain("anna");
    expect((await ask("sessions --namespace tenant-b")).out).toContain("bert");
    expect((await ask("sessions")).out).not.toContain("bert");
  });

  test("OFFSTAGE_STORE names the store, and a path needs no scheme", async () => {
    for (const address of [shop.path, `sqlite:${shop.path}`])
      expect((await offstage(["sessions"], { cwd: tmpdir(), env: { OFFSTAGE_STORE: address } })).code).toBe(0);
  });

  test("reading goes on while another connection writes", async () => {
    const writer = new DatabaseSync(shop.path);
    writer.exec("BEGIN IMMEDIATE; UPDATE sessions SET title = 'half' WHERE session_id = 'anna'");
    const { code, out } = await ask("sessions");
    writer.exec("ROLLBACK");
    writer.close();
    expect(code).toBe(0);
    expect(out).toContain("Where is my order");
  });
});

test("a message of 10 MB is one line in lists, and they stay quick", async () => {
  const store = sqliteStore({ path: join(folder, "large.db") });
  await store.session("large").addItems([{ role: "user", content: `needle ${"word ".repeat(2_000_000)}end.` }]);
  await store.close();
  expect((await ask("sessions --store large.db")).out.length).toBeLessThan(400);
  expect((await ask("grep needle --store large.db")).out.length).toBeLessThan(400);
});

describe("writing", () => {
  test("title, tag and annotate write, and lists show it", async () => {
    expect((await ask("title anna The lost parcel")).code).toBe(0);
    expect((await ask("tag anna urgent refund")).out).toContain("urgent refund");
    expect((await ask("tag anna urgent --remove")).out).not.toContain("urgent");
    expect((await ask("sessions --tag refund --json")).records).toMatchObject([
      { title: "The lost parcel", metadata: { tags: ["refund"] } },
    ]);
    expect((await ask(`annotate ${shop.runs.answered} --label score --value 0.5`)).code).toBe(0);
    expect((await ask("runs anna --json")).records[1]?.annotations).toMatchObject([{ label: "score", value: 0.5 }]);
  });

  test("annotate refuses a value that is no JSON", async () => {
    const { code, err } = await ask(`annotate ${shop.runs.answered} --label score --value {x`);
    expect(code).toBe(2);
    expect(err).toContain('--value takes JSON, such as 0.5 or \'"a text"\'; found "{x".');
    expect((await ask("runs anna --json")).records[1]?.annotations).toHaveLength(1);
  });

  test("prune says what it would remove, and removes it only with --yes", async () => {
    copyFileSync(shop.path, join(folder, "old.db"));
    const { code, err } = await ask("prune --older-than 0s --keep-last 1 --store old.db");
    expect(code).toBe(0);
    expect(err).toMatch(
      /^\d sessions of \d, with .* messages and all their runs.*\nNothing was changed. --yes does it.\n$/,
    );
    expect((await ask("sessions --store old.db --json")).records.length).toBeGreaterThan(1);
    expect((await ask("prune --older-than 0s --keep-last 1 --yes --store old.db")).out).toMatch(
      /^Removed \d sessions\.\n$/,
    );
    expect((await ask("sessions --store old.db --json")).records).toHaveLength(1);
    expect((await ask("prune --older-than 1d --store old.db")).code).toBe(1);
  });

  test("export writes a file, and replaces one only with --yes", async () => {
    expect((await ask("export anna --format html --out a.html")).code).toBe(0);
    expect(readFileSync(join(folder, "a.html"), "utf8")).toContain("<!doctype html>");
    expect(await ask("export anna --out a.html")).toMatchObject({
      code: 2,
      err: '"a.html" exists and was left as it is. --yes replaces it.\n',
    });
    expect((await ask("export anna --out a.html --yes")).code).toBe(0);
    expect(readFileSync(join(folder, "a.html"), "utf8")).toContain("# Conversation");
    expect((await ask(`export ${shop.runs.failed}`)).out).toContain("The provider is down.");
  });

  test("a command that writes does not create a store", async () => {
    expect((await ask("title anna Hello --store new.db")).code).toBe(3);
    expect(() => readFileSync(join(folder, "new.db"))).toThrow();
  });
});

describe("import", () => {
  const claude = (sessionId: string, text: string): string =>
    [
      { type: "summary", summary: `About ${text}`, leafUuid: "b" },
      {
        type: "user",
        uuid: "a",
        sessionId,
        cwd: "/shop",
        timestamp: "2026-11-18T07:00:00Z",
        message: { role: "user", content: text },
      },
      {
        type: "assistant",
        uuid: "b",
        sessionId,
        message: { id: "m", role: "assistant", content: [{ type: "text", text: "Done." }] },
      },
    ]
      .map((line) => JSON.stringify(line))
      .join("\n");
  let logs: string;
  beforeAll(() => {
    logs = mkdtempSync(join(folder, "logs-"));
    mkdirSync(join(logs, "projects", "shop"), { recursive: true });
    writeFileSync(
      join(logs, "projects", "shop", "c0ffee-1.jsonl"),
      `${claude("c0ffee-1", "Fix the tests")}\n{"type":"user","uu`,
    );
    writeFileSync(join(logs, "settings.json"), '{ "theme": "dark" }');
    writeFileSync(join(logs, "outside.txt"), claude("outside", "Not a log"));
    const rollout = [
      { timestamp: "2026-11-18T07:00:00Z", type: "session_meta", payload: { id: "0199-codex", cwd: "/shop" } },
      {
        timestamp: "2026-11-18T07:00:00Z",
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: "Rename it" }] },
      },
    ];
    writeFileSync(join(logs, "rollout-2026.jsonl"), rollout.map((line) => JSON.stringify(line)).join("\n"));
    const other = mkdtempSync(join(folder, "other-"));
    writeFileSync(join(other, "linked.jsonl"), claude("linked", "Behind a link"));
    symlinkSync(other, join(logs, "link"));
    symlinkSync(join(other, "linked.jsonl"), join(logs, "linked.jsonl"));
  });

  test("a file without a conversation is told in one sentence", async () => {
    writeFileSync(join(folder, "notes.json"), '{"a":1}');
    const { code, err } = await ask("import notes.json --store imported.db");
    expect(code).toBe(1);
    expect(err).toMatch(/JSON and JSONL exports\.\n$/);
  });

  test("a folder is told before anything is written, and links are not followed", async () => {
    const { code, err } = await ask(`import ${logs} --store imported.db`);
    expect(code).toBe(0);
    expect(err).toBe(
      [
        "1 conversation of Claude Code, with 2 messages.",
        "1 conversation of Codex, with 1 message.",
        "1 line could not be read.",
        "1 other file without a conversation.",
        "Nothing was changed. --yes does it.\n",
      ].join("\n"),
    );
    expect(() => readFileSync(join(folder, "imported.db"))).toThrow();
  });

  test("--yes imports each as a session, once", async () => {
    expect((await ask(`import ${logs} --yes --store imported.db`)).out).toBe("Imported 2 conversations.\n");
    expect((await ask(`import ${logs} --yes --store imported.db`)).out).toBe(
      "Imported 0 conversations. 2 sessions had been there before.\n",
    );
    const { records } = await ask("sessions --store imported.db --json");
    expect(records).toMatchObject([
      { sessionId: "0199-codex", title: "Rename it", metadata: { importedFrom: "Codex", cwd: "/shop" } },
      { sessionId: "c0ffee-1", title: "About Fix the tests", messageCount: 2 },
    ]);
  });

  test("an export is read back under a name of one's own", async () => {
    await ask("export anna --format jsonl --out anna.jsonl --yes");
    const { records } = await ask("import anna.jsonl --as copy --yes --store imported.db --json");
    expect(records).toMatchObject([{ sessionId: "copy", status: "imported" }]);
    expect((await ask("show copy --store imported.db")).out).toContain("Your order went to the old address.");
    expect(await ask("import settings.json --yes")).toMatchObject({ code: 1 });
    expect((await ask(`import ${join(logs, "settings.json")} --yes`)).err).toContain("is not a conversation");
  });
});
