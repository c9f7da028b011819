import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);

test("the OpenTelemetry exporter without its package fails with the package to install", async () => {
  const folder = mkdtempSync(join(tmpdir(), "offstage-bare-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const part of ["tracing", "base", "errors.ts"]) {
    cpSync(new URL(`../../src/${part}`, import.meta.url), join(folder, part), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const load = `import("./tracing/exporters/otel.ts").catch(({ code, message }) => console.log(code, message))`;
  const { stdout } = await run(process.execPath, ["--eval", load], { cwd: folder });
  expect(stdout).toContain("missing-package");
  expect(stdout).toContain("npm install @opentelemetry/api");
});
