// The lock files of the repository.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const exclude = ["**/node_modules/**"];
const lockFiles = globSync("**/package-lock.json", { cwd: root, exclude });

test("no lock file contains a download URL, so that it works with any registry", () => {
  expect(lockFiles.length).toBeGreaterThan(2);
  expect(lockFiles.filter((path) => /"resolved": "https?:/.test(readFileSync(root + path, "utf8")))).toEqual([]);
});
