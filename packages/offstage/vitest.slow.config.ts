// Runs the slow tests: processes that compete or are killed, long waits, other runtimes. One file at a time, since they measure time.
import { globSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

// Tests that `npm test` repeats less often.
const repeated = globSync("{src,test}/**/*.test.ts").filter((path) =>
  readFileSync(path, "utf8").includes("fullOrFifth("),
);

export default defineConfig({
  test: {
    include: ["src/**/*.slow.ts", "test/**/*.slow.ts", ...repeated],
    env: { OFFSTAGE_TEST_COUNTS: "full" },
    pool: "forks",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
  },
});
