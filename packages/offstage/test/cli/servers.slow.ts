// The command line on Postgres and Redis: the same answers as on SQLite, and reading writes nothing there either.
import { expect, test } from "vitest";
import { openStore } from "../../src/index.ts";
import { startPostgres } from "../servers/postgres-server.ts";
import { startRedis } from "../servers/redis-server.ts";
import { offstage } from "./cli-world.ts";
import { fillShop } from "./shop-store.ts";

test.for([
  ["Postgres", startPostgres],
  ["Redis", startRedis],
] as const)("%s is read, and an empty server stays empty", async ([, start]) => {
  const server = await start();
  if (server === undefined) throw new Error("The server cannot be started here.");
  try {
    const ask = (...words: string[]) => offstage(words, { env: { OFFSTAGE_STORE: server.url } });
    // Nothing is there yet: reading does not create it, however often.
    for (let time = 0; time < 2; time++) expect([1, 3]).toContain((await ask("sessions")).code);
    const store = openStore(server.url);
    const runs = await fillShop(store);
    await store.close();
    expect((await ask("sessions", "--json")).records.map(({ sessionId }) => sessionId)).toEqual([
      "money",
      "loop",
      "broken",
      "anna",
    ]);
    expect((await ask("run", runs.answered.slice(0, 9), "--json")).records[0]?.runId).toBe(runs.answered);
    for (const line of [
      "show anna --trace",
      "why last",
      "prompt anna",
      "trace anna",
      "timeline anna",
      "tools",
      "stats",
      "grep order",
      "inbox",
      "doctor --verify",
    ])
      expect(await ask(...line.split(" ")), line).toMatchObject({ code: 0 });
    expect((await ask("tag", "anna", "urgent")).code).toBe(0);
    expect((await ask("backup", "copy.db")).err).toContain("Only a SQLite store can be copied");
    const { err } = await ask("sessions", "--store", server.url.replace(/:\d+/, ":1"));
    expect(err).toMatch(/^offstage: store-/);
  } finally {
    await server.stop();
  }
});
