// Finds packages of the project that the command line is called in, which may not be the one that it is installed in.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isObject, parseJson } from "../../base/json.ts";

export interface FoundPackage {
  readonly version: string;
  /** The address of its main module. */
  readonly main: string | undefined;
}

/** A package as a module in `folder` would find it, or as this program does; undefined if it is not installed. */
export function findPackage(name: string, folder: string): FoundPackage | undefined {
  return foundFrom(folder, name) ?? foundFrom(dirname(fileURLToPath(import.meta.url)), name);
}

function foundFrom(start: string, name: string): FoundPackage | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const file = join(folder, "node_modules", name, "package.json");
    if (existsSync(file)) return packageAt(file);
    if (dirname(folder) === folder) return undefined;
  }
}

function packageAt(file: string): FoundPackage | undefined {
  const manifest = parseJson(readFileSync(file, "utf8"));
  if (!isObject(manifest)) return undefined;
  const { exports } = manifest;
  const entry =
    importEntry(isObject(exports) && "." in exports ? exports["."] : exports) ?? manifest.main ?? "index.js";
  const main = typeof entry === "string" ? pathToFileURL(join(dirname(file), entry)).href : undefined;
  return { version: String(manifest.version ?? ""), main };
}

// The file behind the conditions under which `import` finds a module.
function importEntry(entry: unknown): string | undefined {
  if (typeof entry === "string") return entry;
  if (!isObject(entry)) return undefined;
  for (const condition of ["node", "import", "module", "default"]) {
    const found = importEntry(entry[condition]);
    if (found !== undefined) return found;
  }
  return undefined;
}
