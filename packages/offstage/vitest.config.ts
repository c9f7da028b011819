// How the tests run: those beside the sources and those in test/, each file in a process of its own.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.test-d.ts"],
      reporter: ["text", "html"],
    },
  },
});
