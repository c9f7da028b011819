// The shape of the source: which room may import which, and how a file looks. Reads src/ and runs none of it.
import { expect, test } from "vitest";
import { findCycle, importsOf, readSourceFiles, type SourceFile } from "./support/source-files.ts";

// The rooms that each room may import, besides itself, `version` and `base`. "types:" allows `import type` only; "all" is any room.
const allowedImports: Record<string, readonly string[]> = {
  version: [],
  errors: [],
  base: ["errors"],
  messages: ["errors"],
  tokens: ["errors", "types:messages"],
  tracing: ["errors", "messages"],
  models: ["errors", "messages", "tokens"],
  tools: ["errors", "messages", "models", "types:state"],
  state: ["errors", "messages", "tokens"],
  query: ["errors", "messages", "tokens"],
  sessions: ["errors", "messages", "tokens", "tracing", "models", "query"],
  memory: ["errors", "messages", "tokens", "models", "tools", "sessions", "state", "query"],
  agent: ["errors", "messages", "tokens", "tracing", "models", "tools", "state", "sessions", "memory", "query"],
  mcp: ["errors", "messages", "tracing", "tools", "sessions", "query", "agent"],
  serve: ["errors", "messages", "state", "tools", "sessions", "agent"],
  engines: ["errors", "messages", "tokens", "sessions", "agent", "serve"],
  testing: ["all"],
  cli: ["all"],
  doors: ["all"],
  index: ["all"],
};

// Folders of leaves: each file or folder in them is imported only by the file that lists them, and by the entry points.
const leafFolders = [
  "state/processors",
  "sessions/drivers",
  "tracing/exporters",
  "query/formats",
  "query/importers",
  "memory/kinds",
  "memory/compaction/strategies",
];

// The only files that may import an outside package, and which one. Each has its own subpath export, except that
// @cfworker/json-schema is bundled.
const outsideImports: Record<string, readonly string[]> = {
  "sessions/drivers/postgres/postgres.ts": ["pg"],
  "sessions/drivers/redis/client.ts": ["@redis/client"],
  "tokens/bpe.ts": ["gpt-tokenizer"],
  "tools/json-schema/compile-json-schema.ts": ["@cfworker/json-schema"],
  "mcp/packages.ts": ["@modelcontextprotocol/client", "@modelcontextprotocol/server"],
  "tracing/exporters/otel.ts": ["@opentelemetry/api"],
  "tracing/exporters/otel/gen-ai-metrics.ts": ["@opentelemetry/api"],
};

// Files that are one long table, and may therefore have more than 400 lines.
const dataTables: readonly string[] = ["tokens/prices.ts"];

const files = readSourceFiles();
const frontDoors = [
  "index.ts",
  "testing/index.ts",
  ...files.map(({ path }) => path).filter((path) => path.startsWith("doors/")),
];
const roomOf = (path: string): string => path.split("/", 1)[0]!.replace(/\.ts$/, "");

const reExport = /^export (?:type )?\{[^}]*\} from "[^"]+";$/gm;

/** Returns a line for each file that breaks a rule; `[]` if none does. */
function offenders(find: (file: SourceFile) => readonly string[]): string[] {
  return files.flatMap((file) => find(file).map((what) => `${file.path}: ${what}`));
}

/** Returns the leaf of a path: `sqlite` for `stores/sqlite.ts` and `stores/sqlite/schema.ts`; `index` is the list. */
const leafOf = (folder: string, path: string): string => path.slice(folder.length + 1).replace(/(\/.*|\.ts)$/, "");
// `sql` is what the two SQL drivers share.
const isLeaf = (folder: string, path: string): boolean =>
  path.startsWith(`${folder}/`) && !["index", "sql"].includes(leafOf(folder, path));

test("every room is in the table of allowed imports", () => {
  expect(offenders(({ path }) => (roomOf(path) in allowedImports ? [] : ["is in no known room"]))).toEqual([]);
});

test("a room imports only the rooms it may import", () => {
  const found = offenders(({ path, imports }) => {
    const own = roomOf(path);
    const allowed = new Set([own, "version", "base", ...(allowedImports[own] ?? [])]);
    return imports
      .filter(({ isRelative }) => isRelative && !allowed.has("all"))
      .filter(({ target, isTypeOnly }) => {
        const room = roomOf(target);
        return !allowed.has(room) && !(isTypeOnly && allowed.has(`types:${room}`));
      })
      .map(({ target }) => `imports ${target}`);
  });
  expect(found).toEqual([]);
});

test("sessions do not import the processors of state", () => {
  const found = offenders(({ path, imports }) =>
    imports
      .map(({ target }) => target)
      .filter((target) => roomOf(path) === "sessions" && target.startsWith("state/processors")),
  );
  expect(found).toEqual([]);
});

test("nothing imports the command line, and only the command line imports an entry point", () => {
  const found = offenders(({ path, imports }) =>
    imports
      .map(({ target }) => target)
      .filter((target) => roomOf(path) !== "cli" && (roomOf(target) === "cli" || frontDoors.includes(target))),
  );
  expect(found).toEqual([]);
});

test.for(leafFolders)("a leaf in %s is imported only by the file that lists the leaves", (folder) => {
  const importers = files.filter(({ path, imports }) =>
    imports.some(({ target }) => {
      if (!isLeaf(folder, target) || frontDoors.includes(path)) return false;
      return !isLeaf(folder, path) || leafOf(folder, path) !== leafOf(folder, target);
    }),
  );
  const paths = importers.map(({ path }) => path);
  expect(paths.filter((path) => isLeaf(folder, path))).toEqual([]);
  expect(paths.slice(1), `${paths[0]} is the list; these go around it`).toEqual([]);
});

test("outside packages are imported only behind their own subpath", () => {
  const found = offenders(({ path, imports }) =>
    imports
      .filter(({ target, isRelative }) => !isRelative && !target.startsWith("node:"))
      .filter(({ target }) => !outsideImports[path]?.some((name) => target === name || target.startsWith(`${name}/`)))
      .map(({ target }) => `imports ${target}`),
  );
  expect(found).toEqual([]);
});

// The folders of a room from low to high: a file imports only from its own folder and from lower ones. "" is the room itself.
const ladders: Record<string, readonly string[]> = {
  serve: ["telling", "protocols", "runs", "http", ""],
  agent: ["ports", "drivers", "config", "run", "input", "step", "lifecycle", "resume", ""],
  sessions: [
    ...["ports", "rows", "encryption"],
    ...["drivers/sql", "drivers/memory", "drivers/sqlite", "drivers/postgres", "drivers/redis", "drivers"],
    ...["head", "lease", "conversation", "records", "records/search", "journal", "adapters", ""],
  ],
};

test.for(Object.entries(ladders))("in %s, lower folders do not import higher ones", ([room, folders]) => {
  const rungOf = (path: string): number => folders.indexOf(path.split("/").slice(1, -1).join("/"));
  const found = offenders(({ path, imports }) => {
    if (roomOf(path) !== room) return [];
    if (rungOf(path) === -1) return ["is in no folder of the ladder"];
    return imports
      .map(({ target }) => target)
      .filter((target) => roomOf(target) === room && rungOf(target) > rungOf(path));
  });
  expect(found).toEqual([]);
});

test("a run has at most ten fields", () => {
  const { text } = files.find(({ path }) => path === "agent/run/run.ts") as SourceFile;
  const run = /export interface Run \{\n([\s\S]*?)\n\}/.exec(text)?.[1] ?? "";
  const fields = run.match(/^ {2}(readonly )?\w+: /gm) ?? [];
  expect(fields.length).toBeGreaterThan(5);
  expect(fields.length).toBeLessThanOrEqual(10);
  expect(fields.filter((field) => !field.includes("readonly"))).toEqual(["  state: "]);
});

test("only the loop assigns the state of a run", () => {
  expect(offenders(({ path, text }) => (/\brun\.state = /.test(text) ? [path] : []))).toEqual([
    "agent/lifecycle/loop.ts: agent/lifecycle/loop.ts",
  ]);
});

test("no code checks whether a value is a promise, or keeps an object shape for the engine", () => {
  expect(offenders(({ text }) => text.match(/"then" in|keepShape/g) ?? [])).toEqual([]);
});

test("there is no import cycle, type imports included", () => {
  expect(findCycle(files)).toBeUndefined();
});

test("no source file has more than 400 lines", () => {
  const found = offenders(({ path, text }) => {
    const lines = text.trimEnd().split("\n").length;
    return lines > 400 && !dataTables.includes(path) ? [`${lines} lines`] : [];
  });
  expect(found).toEqual([]);
});

test("an entry point has only named re-exports", () => {
  const found = offenders(({ path, text }) =>
    frontDoors.includes(path) ? (text.replace(reExport, "").match(/^(?!\/\/).+$/gm) ?? []) : [],
  );
  expect(found).toEqual([]);
});

// Files in base that two rooms share, and why they are there.
const sharedByTwo: Record<string, string> = {
  "base/async-scope.ts": "sessions and tracing keep their values in one async storage",
  "base/mutable.ts": "a type without a room",
  "base/time-limit.ts": "query and tools run untrusted patterns, and neither may import the other",
};

test("a file in base is imported by at least three rooms, or by base", () => {
  const importersOf = (path: string): Set<string> =>
    new Set(
      files
        .filter((file) => !frontDoors.includes(file.path) && file.imports.some(({ target }) => target === path))
        .map((file) => roomOf(file.path)),
    );
  const found = offenders(({ path }) => {
    if (roomOf(path) !== "base" || path in sharedByTwo) return [];
    const rooms = importersOf(path);
    return rooms.has("base") || rooms.size >= 3 ? [] : [`is imported by ${[...rooms].join(" and ") || "no room"} only`];
  });
  expect(found).toEqual([]);
});

test("no folder has more than 15 source files", () => {
  const counts = Map.groupBy(files, ({ path }) => path.split("/").slice(0, -1).join("/"));
  const found = [...counts]
    .filter(([, { length }]) => length > 15)
    .map(([folder, { length }]) => `${folder}: ${length} files`);
  expect(found).toEqual([]);
});

test("there is no export *", () => {
  expect(offenders(({ text }) => text.match(/^export\s+(type\s+)?\*.*$/gm) ?? [])).toEqual([]);
});

test("files and folders are kebab-case, and none has a catch-all name such as utils", () => {
  const found = offenders(({ path }) =>
    path
      .replace(/\.ts$/, "")
      .split("/")
      .filter(
        (part) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part) || /^(utils?|helpers?|types?|common|manager)$/.test(part),
      ),
  );
  expect(found).toEqual([]);
});

test("a file opens with a comment", () => {
  expect(offenders(({ text }) => (/^(#!.*\n)?(\/\/ |\/\*)/.test(text) ? [] : ["opens with code"]))).toEqual([]);
});

test("importsOf() finds every form of import", () => {
  const text = [
    'import type { A } from "./a.ts";',
    'import {\n  b,\n  type B,\n} from "../b.ts";',
    'import "node:fs";',
    'export { c } from "./c.ts";',
    "export const d = 1;",
    'export const e = "./no.ts";',
    ' * import { no } from "./no.ts";',
    'type F = import("./f.ts").F;',
  ].join("\n");
  const seen = importsOf("room/file.ts", text).map(({ target, isTypeOnly }) =>
    isTypeOnly ? `type ${target}` : target,
  );
  expect(seen).toEqual(["type room/a.ts", "b.ts", "node:fs", "room/c.ts", "room/f.ts"]);
});

test("findCycle() finds a cycle", () => {
  const file = (path: string, ...targets: string[]): SourceFile => {
    return { path, text: "", imports: targets.map((target) => ({ target, isRelative: true, isTypeOnly: true })) };
  };
  expect(findCycle([file("a.ts", "b.ts"), file("b.ts", "c.ts"), file("c.ts", "b.ts")])).toEqual([
    "b.ts",
    "c.ts",
    "b.ts",
  ]);
});
