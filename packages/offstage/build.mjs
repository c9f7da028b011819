// Builds dist: tsc writes types and one .js per .ts, then what is behind each front door is joined into one file, and what doors share into another.
// A program that loads three hundred small files spends its start looking for files; see docs/decisions.
import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, rmSync } from "node:fs";
import { rolldown } from "rolldown";

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
const doors = Object.values(exports).flatMap((door) => door.default ?? []);
const nameOf = (file) => file.replace(/^\.\/dist\//, "").replace(/\.js$/, "");

rmSync("dist", { recursive: true, force: true });
rmSync("dist-joined", { recursive: true, force: true });
execFileSync("tsc", ["--project", "tsconfig.build.json"], { stdio: "inherit", shell: process.platform === "win32" });
const joined = await rolldown({
  input: Object.fromEntries(doors.map((file) => [nameOf(file), file])),
  external: (id) => !id.startsWith(".") && !id.startsWith("/"),
  platform: "node",
});
await joined.write({
  dir: "dist-joined",
  format: "esm",
  chunkFileNames: "chunks/[name]-[hash].js",
  // What doors share is one file, whichever doors share it: finding and opening a file takes half a millisecond.
  codeSplitting: { groups: [{ name: "shared", tags: ["$initial"], minShareCount: 2 }] },
});
await joined.close();
execFileSync("tsc", ["--project", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", "dist-joined"], {
  stdio: "inherit",
  shell: process.platform === "win32",
});
rmSync("dist", { recursive: true, force: true });
renameSync("dist-joined", "dist");
