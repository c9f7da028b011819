// The promises of the version.
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { version } from "./version.ts";

test("the version is the one in package.json", () => {
  expect(version).toBe(manifest.version);
});
