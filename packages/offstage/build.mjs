// Builds dist: tsc writes types and one .js per .ts, then rolldown joins what is behind each entry point into one file, and what
// several entry points share into another. A program that loads three hundred small files spends its start looking for files.
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { rolldown } from "rolldown";
import { withShortLiterals } from "./lean-literals.mjs";
import { writeTypes } from "./lean-types.mjs";

const { exports, bin } = JSON.parse(readFileSync("package.json", "utf8"));
const entries = [...Object.values(exports).flatMap((entry) => entry.default ?? []), ...Object.values(bin)];
// Packages that become part of ours, so that users install none. Their licences are in THIRD_PARTY_LICENSES.
const bundled = ["@cfworker/json-schema"];
const nameOf = (file) => file.replace(/^\.\/dist\//, "").replace(/\.js$/, "");
const remove = (...folders) => folders.forEach((folder) => void rmSync(folder, { recursive: true, force: true }));

remove("dist-tsc", "dist-joined");
execFileSync("tsc", ["--project", "tsconfig.build.json", "--outDir", "dist-tsc"], {
  stdio: "inherit",
  shell: process.platform === "win32",
});
// The files that the root loads at once.
const loaded = new Set();
collectLoaded(resolve("dist-tsc/index.js"));
const joined = await rolldown({
  input: Object.fromEntries(entries.map((file) => [nameOf(file), `./dist-tsc/${nameOf(file)}.js`])),
  external: (id) => !id.startsWith(".") && !id.startsWith("/") && !bundled.includes(id),
  platform: "node",
  // No comment in front of each module: it names a file of dist-tsc.
  experimental: { attachDebugInfo: "none" },
});
await joined.write({
  dir: "dist-joined",
  format: "esm",
  chunkFileNames: "chunks/[name]-[hash].js",
  // What an editor shows of a comment is in the types.
  comments: { jsdoc: false, legal: true, annotation: true },
  // One file for all that is shared, since finding and opening a file takes half a millisecond. What the root does not load stays
  // out of it: it would bring modules of Node with it, such as node:crypto, which take longer to load than our own code.
  codeSplitting: {
    groups: [
      {
        name: "shared",
        test: (id) => loaded.has(resolve(id)) || id.includes("node_modules"),
        tags: ["$initial"],
        minShareCount: 2,
        priority: 2,
      },
      // What entry points share beside that, by room: none of them loads the command line.
      { name: roomOf, debugName: "rooms", test: (id) => roomOf(id) !== "cli", minShareCount: 2, priority: 1 },
      { name: "cli", test: /dist-tsc.cli.(?!commands)/, minShareCount: 2 },
    ],
  },
});
await joined.close();
for (const file of globSync("dist-joined/**/*.js")) writeFileSync(file, withShortLiterals(readFileSync(file, "utf8")));
const typed = Object.values(exports).flatMap((entry) => entry.types ?? []);
writeTypes(
  typed.map((file) => file.replace("./dist/", "")),
  { from: "dist-tsc/", to: "dist-joined/" },
);
remove("dist", "dist-tsc");
renameSync("dist-joined", "dist");

function roomOf(id) {
  return /dist-tsc.(\w+)/.exec(id)?.[1] ?? "outside";
}

function collectLoaded(file) {
  if (loaded.has(file)) return;
  loaded.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?["'](\.\.?\/[^"']+)["'];/gm))
    collectLoaded(resolve(dirname(file), path));
}
