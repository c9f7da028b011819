// Packages that only slow tests need live in folders of interop/, each with a lock of its own.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** The path of a folder of interop/. */
export function interopFolder(name: string): string {
  return join(root, "interop", name);
}

/** Installs the packages of a folder, unless those of its lock file are there; returns its path. */
export async function installInterop(name: string): Promise<string> {
  const folder = interopFolder(name);
  const timeOf = (path: string) => statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (timeOf("node_modules/.package-lock.json") >= timeOf("package-lock.json")) return folder;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", args, { cwd: folder, shell: process.platform === "win32" });
  return folder;
}

/** The same with the built package beside them, so that programs of the folder import "offstage" as a user's would. */
export async function installWithOffstage(name: string): Promise<string> {
  const folder = await installInterop(name);
  const installed = join(folder, "node_modules/offstage");
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed, { recursive: true });
  for (const part of ["dist", "package.json"])
    cpSync(join(root, "packages/offstage", part), join(installed, part), { recursive: true });
  return folder;
}
