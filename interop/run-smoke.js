// Runs the smoke test on a runtime with files (Node, Bun, Deno), with a session on SQLite as well, and on each server whose URL is
// given as an argument. Prints a line for each claim.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, sqliteStore } from "offstage";
import { converse, smoke } from "./smoke.js";

const folder = mkdtempSync(join(tmpdir(), "offstage-smoke-"));
const onServers = process.argv
  .slice(2)
  .map((url) => [
    `a session is kept at ${new URL(url).protocol}`,
    async () => converse(openStore(url, { namespace: `${process.pid} ${Date.now()}` })),
  ]);
try {
  const path = join(folder, "smoke.db");
  const held = await smoke({
    "a session is kept on SQLite": async () => {
      await converse(sqliteStore({ path }));
      const reopened = sqliteStore({ path });
      const count = await reopened.session("anna").getItemCount();
      await reopened.close();
      if (count !== 4) throw new Error(`expected 4 messages after reopening, found ${count}`);
    },
    ...Object.fromEntries(onServers),
  });
  for (const name of held) console.log(`ok: ${name}`);
} finally {
  rmSync(folder, { recursive: true });
}
