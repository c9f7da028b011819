// Runs the tests beside the sources and those in test/, each file in a process of its own. Slow ones are in vitest.slow.config.ts.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    // Without this, vitest leaves one core to itself: on two cores it would run one file at a time.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["**/*.{test,test-d,slow}.ts"],
      reporter: ["text", "html"],
    },
  },
});
