// The published package: what it installs, and which packages it bundles.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const bundled = ["@cfworker/json-schema"];

function builtFiles(ending: string): { path: string; text: string }[] {
  return readdirSync(`${folder}/dist`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending) && !path.startsWith("."))
    .map((path) => ({ path, text: readFileSync(`${folder}/dist/${path}`, "utf8") }));
}

const importsIn = (text: string): string[] =>
  [...text.matchAll(/^(?:import|export)\b[^"']*?["']([^"']+)["'];?$|\bimport\(["']([^"']+)["']\)/gm)].map(
    ([, fixed, dynamic]) => fixed ?? dynamic ?? "",
  );

test("the package installs no other package", () => {
  expect(manifest.dependencies).toBeUndefined();
  const optional = Object.keys(manifest.peerDependenciesMeta);
  expect(Object.keys(manifest.peerDependencies)).toEqual(optional);
  const outside = builtFiles(".js")
    .flatMap(({ text }) => importsIn(text))
    .filter((name) => !name.startsWith(".") && !name.startsWith("node:"));
  expect(outside.filter((name) => !optional.some((peer) => name === peer || name.startsWith(`${peer}/`)))).toEqual([]);
  expect(outside).not.toEqual([]);
});

test("importing the root loads no module of Node that is slow to load", () => {
  const program = `const before = new Set(process.moduleLoadList);
await import(${JSON.stringify(pathToFileURL(`${folder}/dist/index.js`).href)});
console.log(JSON.stringify(process.moduleLoadList.filter((name) => !before.has(name))));`;
  const added = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  for (const name of ["crypto", "stream", "fs/promises", "os", "sqlite"])
    expect(JSON.parse(added)).not.toContain(`NativeModule ${name}`);
});

test("no entry point loads the command line", () => {
  const texts = new Map(builtFiles(".js").map(({ path, text }) => [path.replaceAll("\\", "/"), text]));
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const [, name = ""] of (texts.get(path) ?? "").matchAll(/^(?:import|export)\b[^"']*?["'](\.[^"']+)["'];?$/gm))
      load(posix.join(posix.dirname(path), name));
  };
  for (const path of texts.keys()) if (!/^(chunks|cli)\//.test(path)) load(path);
  expect([...loaded].filter((path) => /cli/.test(path))).toEqual([]);
  expect(loaded.size).toBeGreaterThan(texts.size / 4);
});

test("the types of the package do not import a bundled package", () => {
  const named = builtFiles(".d.ts").filter(({ text }) => bundled.some((name) => importsIn(text).includes(name)));
  expect(named.map(({ path }) => path)).toEqual([]);
});

test("the package ships the licence of every bundled package, and of the data of its list prices", () => {
  expect(manifest.files).toContain("THIRD_PARTY_LICENSES");
  const licences = readFileSync(`${folder}/../../THIRD_PARTY_LICENSES`, "utf8");
  for (const name of bundled) expect(licences).toContain(`${name} ${manifest.devDependencies[name]}\n`);
  const { devDependencies: data } = JSON.parse(readFileSync(`${folder}/../../tools/prices/package.json`, "utf8"));
  for (const name of Object.keys(data)) expect(licences).toContain(`${name} ${data[name]}\n`);
  for (const holder of ["Jeremy Danyow", "Mathias Bynens", "Evgeny Poberezkin", "Pydantic"])
    expect(licences).toContain(holder);
});
