// Runs the tests beside the sources and those in test/. Slow ones are in vitest.slow.config.ts.
import { configDefaults, defineConfig } from "vitest/config";

const tests = ["src/**/*.test.ts", "test/**/*.test.ts"];
// These run in a process of their own: they measure time, or load a package that keeps state for its whole process.
const alone = [
  "src/agent/partial-json.test.ts",
  "src/query/{any-input,content-pattern,tool-summary}.test.ts",
  "src/tools/json-schema/{bounded-checks,pattern}.test.ts",
  "src/tracing/context.test.ts",
  "test/otel/sdk-*.test.ts",
  "test/scenarios/{abort-stress,long-conversation,many-calls}.test.ts",
];

export default defineConfig({
  test: {
    pool: "forks",
    // Without this, vitest leaves one core to itself: on two cores it would run one file at a time.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        // One process per core for all files: to start a process and load the sources for each took a third of the time.
        test: {
          name: "shared",
          include: tests,
          exclude: [...configDefaults.exclude, ...alone],
          isolate: false,
          setupFiles: ["./test/support/leave-no-trace.ts"],
        },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["**/*.{test,test-d,slow}.ts"],
      reporter: ["text", "html"],
    },
  },
});
