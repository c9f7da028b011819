// Runs the slow tests: processes that compete or are killed, long waits, other runtimes. One file at a time, since they measure time.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.slow.ts", "test/**/*.slow.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
  },
});
