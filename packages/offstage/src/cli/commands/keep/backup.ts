// offstage backup: a consistent copy of a SQLite store, while others write to it.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { SqliteStore } from "../../../doors/sessions.ts";
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";
import { fileSize } from "../../output/words.ts";

export const command: Command = defineCommand({
  options: {},
  examples: ["offstage backup offstage-2026-11-18.db"],
  keys: ["file", "bytes"],
  notes: "Encrypted rows stay encrypted. For Postgres and Redis use their own tools.",
  async run({ positionals: [target = ""] }, io) {
    const store = (await io.openStore({ base: true })) as Partial<SqliteStore>;
    if (store.backup === undefined)
      throw new UsageError("Only a SQLite store can be copied. For Postgres use pg_dump, for Redis its snapshots.");
    const file = resolve(io.world.cwd, target);
    io.progress(`Copying to ${io.inline(file)} …`);
    await store.backup(file);
    const { size: bytes } = statSync(file);
    if (io.isJson) io.record({ file, bytes });
    else io.print(`${io.inline(file)}  ${io.paint("dim", fileSize(bytes))}`);
    return 0;
  },
});
