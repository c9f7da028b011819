// Packs the package once and shows the file to publint and attw.
import { execSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "offstage-pack-"));
const run = (command) => execSync(command, { stdio: "inherit" });
try {
  run(`npm pack --silent --pack-destination "${folder}"`);
  const packed = join(folder, readdirSync(folder)[0]);
  run(`publint run "${packed}" --strict`);
  run(`attw "${packed}" --profile esm-only`);
} finally {
  rmSync(folder, { recursive: true });
}
