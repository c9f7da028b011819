// The documentation pages for the docs test: their text, and the programs in their code blocks.
import { execFile } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";

export interface DocPage {
  /** Relative to the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/**
 * One program: a `ts` block with imports, and the blocks after it that import nothing. A block marked `ts no-run` is
 * only type-checked (it needs a key or a server); one marked `ts no-check` is a sketch, and skipped.
 */
export interface DocProgram {
  /** The name of its file, after its page and line. */
  readonly name: string;
  readonly code: string;
  readonly isRun: boolean;
}

/** README.md and everything below docs/. */
export function readPages(root: string): DocPage[] {
  const paths = ["README.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { cwd: root })];
  return paths.sort().map((path) => {
    return { path, text: readFileSync(root + path, "utf8") };
  });
}

/** Returns the programs of a page, with the line numbers of the page. */
export function programsOf(path: string, text: string): DocProgram[] {
  const programs: { name: string; code: string; isRun: boolean }[] = [];
  for (const { line, info, code } of blocksOf(text)) {
    if (info.includes("no-check")) continue;
    const isRun = !info.includes("no-run");
    const last = programs.at(-1);
    if (last === undefined || /^import\b/m.test(code)) {
      const name = `${path.replace(/\.md$/, "").replaceAll("/", "-")}-${line}.ts`;
      programs.push({ name, code: `${"\n".repeat(line)}${code}`, isRun });
    } else {
      last.code += "\n".repeat(Math.max(1, line - last.code.split("\n").length + 1)) + code;
      last.isRun &&= isRun;
    }
  }
  return programs;
}

interface Block {
  /** The line on which the block begins, from 1. */
  readonly line: number;
  /** The text after `ts`. */
  readonly info: string;
  readonly code: string;
}

function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```ts\b([^\n]*)\n([\s\S]*?)^```$/gm)].map((found) => {
    const [, info = "", code = ""] = found;
    return { line: text.slice(0, found.index).split("\n").length, info, code };
  });
}

export interface TypeCheckOptions {
  /** The root of the repository. */
  readonly root: string;
  readonly files: readonly string[];
  readonly compilerOptions?: object;
}

/** Type-checks the programs in a folder as a reader would; returns what the compiler prints. */
export async function typeCheck(folder: string, { root, files, compilerOptions }: TypeCheckOptions): Promise<string> {
  const config = {
    extends: `${root}tsconfig.base.json`,
    compilerOptions: {
      noEmit: true,
      isolatedDeclarations: false,
      skipLibCheck: true,
      noUnusedLocals: false,
      lib: ["es2023", "esnext.disposable"],
      ...compilerOptions,
    },
    files,
  };
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify(config));
  const args = [`${root}node_modules/typescript/bin/tsc`, "--project", folder];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string }) => error);
  return stdout;
}
