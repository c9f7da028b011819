// Checks the links of the pages where they are read: in the repository, and in the package, which has only some of the files.
import { execFile } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { anchorsOf, linksOf, namedPathsOf } from "./support/page-links.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const paths = globSync(["*.md", "docs/**/*.md", "bench/*.md"], { cwd: root }).map((path) => path.replaceAll("\\", "/"));
const pages = new Map(paths.map((path) => [path, readFileSync(root + path, "utf8")]));
const links = [...pages].flatMap(([path, text]) => linksOf(path, text));

test("every link to a file of the repository leads to an existing file", () => {
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ target }) => !existsSync(root + target))).toEqual([]);
});

test("every link to a heading leads to an existing heading", () => {
  const lost = links.filter(
    ({ target, anchor }) => anchor !== "" && !anchorsOf(pages.get(target) ?? "").includes(anchor),
  );
  expect(lost).toEqual([]);
});

test("every path that a page mentions is in the repository", () => {
  const named = [...pages].flatMap(([page, text]) => namedPathsOf(text).map((path) => ({ page, path })));
  expect(named.filter(({ path }) => !existsSync(root + path))).toEqual([]);
});

test("a relative link of a page in the package leads to a file in the package", async () => {
  const packed = await packedPages();
  expect(packed).toEqual(expect.arrayContaining(["README.md", "CHANGELOG.md", "LICENSE", "docs/run-an-agent.md"]));
  const isPacked = (target: string) => packed.some((path) => path === target || path.startsWith(`${target}/`));
  const broken = links.filter(
    ({ page, target, isRelative }) => isRelative && packed.includes(page) && !isPacked(target),
  );
  expect(broken).toEqual([]);
  // A reader of the package does not have these files, so their names must be links to the repository.
  const bare = packed.flatMap((page) => namedPathsOf(pages.get(page) ?? "").map((path) => ({ page, path })));
  expect(bare).toEqual([]);
});

test("the registry resolves relative links of README.md at the root of the repository", () => {
  const { repository } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(repository).toEqual({ type: "git", url: "git+https://github.com/offstage-dev/offstage.git" });
});

/** Returns the pages that npm packs. Packs a copy, because packing in place would rebuild files that other tests run. */
async function packedPages(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "offstage-links-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(new URL("../package.json", import.meta.url), join(folder, "package.json"));
  const { files } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { files: string[] };
  for (const name of ["README.md", "LICENSE", ...files].filter((name) => existsSync(root + name))) {
    cpSync(root + name, join(folder, name), { recursive: true });
  }
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    shell: process.platform === "win32",
  });
  const [report] = Object.values(JSON.parse(stdout) as object) as { files: { path: string }[] }[];
  return (report?.files ?? []).map(({ path }) => path);
}
