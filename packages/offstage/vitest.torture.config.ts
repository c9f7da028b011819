// Runs the long tests: crashes and very long conversations, one file at a time. TORTURE=short bounds them to a few minutes.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.torture.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
  },
});
