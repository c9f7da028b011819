import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { memoryStore, sqliteStore } from "../../src/sessions/open-store.ts";
import type { WriteLabel } from "../../src/sessions/ports/store-driver.ts";
import type { Store } from "../../src/sessions/store.ts";
import { crashingStore } from "../../src/testing/crash-points.ts";
import { answered, said, texts, turn } from "../../src/testing/store-claims/claim.ts";

const changes: readonly (readonly [WriteLabel, (store: Store) => Promise<unknown>, readonly string[]])[] = [
  ["session.add", (store) => store.session("a").addItems([said("3"), answered("4")]), ["1", "2", "3", "4"]],
  ["session.pop", (store) => store.session("a").popItem(), ["1"]],
  ["session.pop", (store) => store.session("a").popTurn(), []],
  ["session.clear", (store) => store.session("a").clearSession(), []],
  ["session.replace", (store) => store.session("a").replaceItems([said("new")]), ["new"]],
  ["session.delete", (store) => store.sessions.delete("a"), []],
];

describe.for([
  ["memory", () => memoryStore()],
  ["SQLite", () => sqliteStore({ path: ":memory:" })],
] as const)("on %s", ([, make]) => {
  test.for(changes)("a failing %s is written completely or not at all", async ([at, change, after]) => {
    for (const when of ["before", "after"] as const) {
      const store = crashingStore(make(), { at, when, nth: at === "session.add" ? 2 : 1, action: new Error("fault") });
      await store.session("a").addItems([said("1"), answered("2")]);
      await expect(change(store)).rejects.toThrow("fault");
      expect(texts(await store.session("a").getItems())).toEqual(when === "before" ? ["1", "2"] : after);
      expect(await store.verify()).toEqual([]);
      await turn(store, "a", "next");
      expect(texts(await store.session("a").getItems(2))).toEqual(["question next", "answer next"]);
      await store.close();
    }
  });
});

describe.for([
  ["postgres", `postgresStore({ url: "postgres://localhost/x" })`, "npm install pg"],
  ["redis", `redisStore({ url: "redis://localhost" })`, "npm install @redis/client"],
] as const)("without its package", ([name, make, advice]) => {
  test(`${name} fails with the package to install`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "offstage-bare-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    cpSync(new URL("../../src", import.meta.url), folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const code = `const { ${name}Store } = await import("./doors/peers/${name}.ts");
      await ${make}.ready().catch(({ code, message }) => console.log(code, message));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
      cwd: folder,
    });
    expect(stdout).toContain("missing-package");
    expect(stdout).toContain(advice);
  });
});

test.each([
  [{ at: "run.begin", action: "hang" }, 'needs "when"'],
  [{ when: "before", action: "hang" }, 'needs "at"'],
  [{ at: "run.begin", when: "before" }, 'needs "action"'],
  [{ at: "run.begun", when: "before", action: "hang" }, '"at" must be'],
  [{ at: "run.begin", when: "before", action: "hang", count: 2 }, 'Unknown crash point option "count"'],
])("the invalid crash point %j is refused", (point, sentence) => {
  expect(() => crashingStore(memoryStore(), point as never)).toThrow(sentence);
});
