// The packages of interop/serve, which only slow tests use.
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

export const partnersFolder: string = fileURLToPath(new URL("../../../../interop/serve/", import.meta.url));

/** Installs the packages, unless those of the lock file are there. */
export async function installPartners(): Promise<void> {
  const timeOf = (path: string) => statSync(partnersFolder + path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (timeOf("node_modules/.package-lock.json") >= timeOf("package-lock.json")) return;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", args, { cwd: partnersFolder });
}

/** Imports a package of interop/serve. */
export async function partner<T>(name: string): Promise<T> {
  const { resolve } = createRequire(`${partnersFolder}package.json`);
  return (await import(pathToFileURL(resolve(name)).href)) as T;
}
