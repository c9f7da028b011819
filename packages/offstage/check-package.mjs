// Packs the package once, checks its size, and shows the file to publint and attw.
import { execSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "offstage-pack-"));
// Unpacked: what the package takes on a disk.
const maxBytes = 2_000_000;
const run = (command) => execSync(command, { stdio: "inherit" });
try {
  const report = execSync(`npm pack --json --silent --pack-destination "${folder}"`, { encoding: "utf8" });
  const { unpackedSize } = Object.values(JSON.parse(report.slice(report.search(/^[[{]/m))))[0];
  if (unpackedSize > maxBytes)
    throw new Error(`The package has ${unpackedSize} bytes; at most ${maxBytes} are allowed.`);
  const packed = join(folder, readdirSync(folder)[0]);
  run(`publint run "${packed}" --strict`);
  run(`attw "${packed}" --profile esm-only`);
} finally {
  rmSync(folder, { recursive: true });
}
