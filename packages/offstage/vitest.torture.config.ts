// How the long tests run: crashes, floods and soaks, one file after another, with time to finish.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.torture.ts"],
    passWithNoTests: true,
    pool: "forks",
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 60_000,
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
  },
});
