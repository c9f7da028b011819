// A vitest reporter that ends a run with one plain line, for scripts to read. It reports nothing else.
import type { Reporter, TestModule } from "vitest/node";

/** Prints `N passed, N failed, N skipped` after everything else. A file or run that crashed counts as a failure. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      let failedTests = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "pending") continue;
        count[state] += 1;
        if (state === "failed") failedTests += 1;
      }
      if (module.state() === "failed" && failedTests === 0) count.failed += 1;
    }
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
  }
}
