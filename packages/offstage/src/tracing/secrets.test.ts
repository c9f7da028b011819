import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { consoleExporter } from "./exporters/console.ts";
import { jsonlExporter } from "./exporters/jsonl.ts";
import { redactSpan } from "./redact-span.ts";
import { TraceContext } from "./trace-context.ts";
import { ConsoleTracer } from "./tracers/console-tracer.ts";
import { withSpan, withTrace } from "./with-span.ts";

const secrets = [
  "sk-abcdefghijklmnopqrstuvwxyz123456",
  "ghp_abcdefghijklmnopqrstuvwxyz1234567890",
  "AKIAIOSFODNN7EXAMPLE",
  "postgres://user:hunter2hunter2@db.example.com/main",
  "Bearer abcdefghijklmnopqrstuvwxyz0123456789",
];
const canary = "CANARY-of-content-7f3a";

/** The output of the exporters that write text, for spans full of secrets and content. */
async function writtenText(content: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "offstage-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const printed: string[] = [];
  const path = join(folder, "spans.jsonl");
  const exporters = [jsonlExporter({ path }), consoleExporter({ color: true, write: (text) => printed.push(text) })];
  await withTrace(`trace ${secrets[0]}`, { exporters, content }, async () => {
    for (const secret of secrets) {
      await withSpan(
        `calls ${secret}`,
        { metadata: { header: secret, apiKey: "plain-but-secret-by-name" } },
        (span) => {
          span.setContent({ prompt: `${canary} ${secret}` });
          return Promise.reject(new Error(`${canary} ${secret}`));
        },
      ).catch(() => {});
    }
  });
  await Promise.all(exporters.map((exporter) => exporter.shutdown()));
  return readFileSync(path, "utf8") + printed.join("");
}

test("no content leaves the process by default, neither from spans nor from errors", async () => {
  const text = await writtenText(false);
  expect(text).not.toContain("CANARY");
  expect(text).toContain("errorType");
});

test("no secret leaves the process, with content or without", async () => {
  for (const content of [false, true]) {
    const text = await writtenText(content);
    for (const secret of [
      ...secrets.slice(0, 3),
      "hunter2",
      "abcdefghijklmnopqrstuvwxyz0123456789",
      "plain-but-secret",
    ]) {
      expect(text).not.toContain(secret);
    }
    expect(text.includes(canary)).toBe(content);
  }
});

test("a log line is printed without its secrets", () => {
  const text: string[] = [];
  const tracer = new ConsoleTracer({ stream: { write: (more) => text.push(more) } });
  tracer.error(`calling with ${secrets[0]}`, new Error(`refused ${secrets[1]}`));
  expect(text.join("")).toContain("calling with [redacted]");
  for (const secret of secrets) expect(text.join("")).not.toContain(secret);
});

test("if the redactor throws, the span is exported without its texts", () => {
  const span = TraceContext.open("t").span("secret name", { metadata: { a: "b" } });
  span.end();
  const redacted = redactSpan(span, () => {
    throw new Error("broken");
  });
  expect([redacted.name, redacted.metadata, redacted.spanId]).toEqual(["[redacted]", {}, span.spanId]);
});

test("redactSpan changes nothing in a plain span without secrets", () => {
  const span = TraceContext.open("t", { groupId: "g" }).span("s", { kind: "model", metadata: { a: [1, { b: null }] } });
  span.end();
  const redacted = redactSpan(span, (value) => value);
  expect(JSON.parse(JSON.stringify(redacted))).toEqual(JSON.parse(JSON.stringify(span)));
});
