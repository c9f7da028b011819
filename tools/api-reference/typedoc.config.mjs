// Reads the doc comments of everything that the package exports, through each of its entry points.
import { readFileSync } from "node:fs";

const folder = "../../packages/offstage";
const { exports, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const sources = Object.values(exports).flatMap(
  ({ types }) => types?.replace("./dist/", "src/").replace(".d.ts", ".ts") ?? [],
);

/** @type {Partial<import("typedoc").TypeDocOptions>} */
export default {
  name: `Offstage ${version}`,
  entryPoints: sources.map((source) => `${folder}/${source}`),
  tsconfig: `${folder}/tsconfig.build.json`,
  readme: "none",
  out: "out",
  gitRevision: "main",
  sourceLinkTemplate: "https://github.com/offstage-dev/offstage/blob/{gitRevision}/{path}#L{line}",
  excludeInternal: true,
  treatWarningsAsErrors: true,
  // Entry points are short by design: types that a program does not have to name are not exported.
  validation: { notExported: false },
};
