// Packages that only slow tests need live in folders of interop/, each with a lock of its own. This installs such a folder, with the
// built package beside them, so that its programs import "offstage" as a user's would.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Installs a folder of interop/ and the built package in it; returns its path. */
export async function installInterop(name: string): Promise<string> {
  const folder = join(root, "interop", name);
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", args, { cwd: folder, shell: process.platform === "win32" });
  const installed = join(folder, "node_modules/offstage");
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed, { recursive: true });
  for (const part of ["dist", "package.json"])
    cpSync(join(root, "packages/offstage", part), join(installed, part), { recursive: true });
  return folder;
}
