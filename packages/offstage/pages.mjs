// Brings pages of the repository into the package while it is packed: `node pages.mjs copy` before, `node pages.mjs remove` after.
import { cpSync, readFileSync, rmSync } from "node:fs";

const { files } = JSON.parse(readFileSync("package.json", "utf8"));
const pages = ["README.md", "LICENSE", ...files.filter((name) => name !== "dist" && !name.startsWith("!"))];

for (const page of pages) {
  if (process.argv[2] === "copy") cpSync(`../../${page}`, page, { recursive: true });
  else rmSync(page, { recursive: true, force: true });
}
