// The size of a package on disk: itself and everything npm installs with it, read from a peer's folder. No network.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { benchRoot, partsOf } from "./contenders.mjs";

/** Megabytes, packages and files of an install of `names` alone, found in the tree a peer has installed. */
export function installedSize(peerName, names) {
  const { folder } = partsOf(peerName);
  const packageFolders = closureOf(folder, names);
  const files = [...packageFolders].flatMap(filesOfPackage);
  const bytes = files.reduce((total, file) => total + fs.statSync(file).size, 0);
  return { megabytes: bytes / 1e6, packages: packageFolders.size, files: files.length };
}

/** The same of a package of this repository, as it would be published, with its dependencies counted. */
export function packedSize(relativeFolder) {
  const folder = path.join(benchRoot, relativeFolder);
  const npm = process.env.npm_execpath;
  if (npm === undefined) {
    throw new Error('Start this with "npm run bench:import"');
  }
  const args = [npm, "pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  const packed = Object.values(JSON.parse(stdout))[0];
  const dependencies = closureOf(folder, Object.keys(readManifest(folder).dependencies ?? {}));
  const bytes = [...dependencies].flatMap(filesOfPackage).reduce((total, file) => total + fs.statSync(file).size, 0);
  return {
    megabytes: (packed.unpackedSize + bytes) / 1e6,
    packages: 1 + dependencies.size,
    files: packed.entryCount,
  };
}

/** The folders of `names` and of all they depend on: what is missing (another platform's) is not counted. */
function closureOf(folder, names) {
  const found = new Set();
  const open = names.map((name) => ({ name, from: folder }));
  while (open.length > 0) {
    const { name, from } = open.pop();
    const packageFolder = resolvePackage(name, from);
    if (packageFolder === undefined || found.has(packageFolder)) {
      continue;
    }
    found.add(packageFolder);
    open.push(...dependencyNames(packageFolder).map((dependency) => ({ name: dependency, from: packageFolder })));
  }
  return found;
}

/** The packages that npm installs with a package: its dependencies, the optional ones, and its peers that are not optional. */
function dependencyNames(packageFolder) {
  const manifest = readManifest(packageFolder);
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers];
}

function readManifest(folder) {
  return JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
}

/** The folder Node would find `name` in, looking upwards from `from`. */
function resolvePackage(name, from) {
  for (let folder = from; folder.length > path.parse(folder).root.length; folder = path.dirname(folder)) {
    const candidate = path.join(folder, "node_modules", name);
    if (fs.existsSync(path.join(candidate, "package.json"))) {
      return fs.realpathSync(candidate);
    }
  }
  return undefined;
}

/** The files of one package, without those of the packages nested in it. */
function filesOfPackage(packageFolder) {
  const entries = fs.readdirSync(packageFolder, { recursive: true, withFileTypes: true });
  const nested = `${path.sep}node_modules`;
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.slice(packageFolder.length).includes(nested))
    .map((entry) => path.join(entry.parentPath, entry.name));
}
