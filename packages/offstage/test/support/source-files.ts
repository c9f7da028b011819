// The source files for the architecture test: paths, text and imports. Tests beside the sources are excluded.
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** One import or re-export: `target` is a path below src/ (`errors.ts`), or a bare specifier (`node:fs`). */
export interface SourceImport {
  readonly target: string;
  readonly isRelative: boolean;
  readonly isTypeOnly: boolean;
}

/** One source file; `path` is relative to src/, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly SourceImport[];
}

// The formatter puts statements at the start of a line, so code in indented comments is not matched.
const statement = /^(?:import|export)\s+(?:(type)\s+)?(?:[^;"']*?\sfrom\s+)?["']([^"']+)["']/gm;
const expression = /\bimport\(\s*["']([^"']+)["']/g;
const comment = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** Returns every import in `text`, the content of the file at `path`: static, dynamic, re-export, and `import("…")` in a type. */
export function importsOf(path: string, text: string): SourceImport[] {
  const code = text.replace(comment, "");
  const toImport = (specifier: string, isTypeOnly: boolean): SourceImport => {
    const isRelative = specifier.startsWith(".");
    return { target: isRelative ? posix.join(posix.dirname(path), specifier) : specifier, isRelative, isTypeOnly };
  };
  return [
    ...[...code.matchAll(statement)].map(([, type, specifier = ""]) => toImport(specifier, type !== undefined)),
    ...[...code.matchAll(expression)].map(([, specifier = ""]) => toImport(specifier, false)),
  ];
}

/** Returns all source files below src/, sorted by path. */
export function readSourceFiles(): SourceFile[] {
  const root = fileURLToPath(new URL("../../src/", import.meta.url));
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !/\.(test|test-d|slow)\.ts$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(root + path, "utf8");
      return { path, text, imports: importsOf(path, text) };
    });
}

/** Returns the first import cycle as a path that ends where it began, or undefined. */
export function findCycle(files: readonly SourceFile[]): string[] | undefined {
  const importsByPath = new Map(files.map((file) => [file.path, file.imports]));
  const finished = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (finished.has(path)) return undefined;
    for (const { target, isRelative } of importsByPath.get(path) ?? []) {
      const cycle = isRelative ? visit(target, [...trail, path]) : undefined;
      if (cycle) return cycle;
    }
    finished.add(path);
    return undefined;
  };
  for (const { path } of files) {
    const cycle = visit(path, []);
    if (cycle) return cycle;
  }
  return undefined;
}
