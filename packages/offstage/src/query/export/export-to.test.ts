import { createWriteStream, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { user } from "../../messages/makers.ts";
import { type TextFormat, textFormats } from "../formats/index.ts";
import { MessageQuery } from "../message-query.ts";

const messages = Array.from({ length: 20_000 }, (_, i) => user(`message ${i} ${"é".repeat(i % 90)}`));
const query = new MessageQuery(messages);

function collector(options: { delayMs?: number; onChunk?: (size: number) => void } = {}): {
  stream: Writable;
  text: () => string;
} {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    highWaterMark: 1024,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      options.onChunk?.(chunk.length);
      if (options.delayMs === undefined) done();
      else setTimeout(done, options.delayMs);
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

describe("exportTo", () => {
  test.for(Object.keys(textFormats) as TextFormat[])(
    "writes the same %s to a stream that export returns",
    async (format) => {
      const { stream, text } = collector();
      await query.exportTo(stream, format);
      expect(text()).toBe(query.export(format));
      expect(stream.writableFinished).toBe(true);
    },
  );

  test("writes a file that is complete when it resolves", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "offstage-")), "out.json");
    await query.exportTo(createWriteStream(file), "json", { indent: 0 });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(messages);
  });

  test("waits for a slow reader instead of filling memory", async () => {
    let waiting = 0;
    const { stream, text } = collector({
      delayMs: 1,
      onChunk: () => {
        waiting = Math.max(waiting, stream.writableLength);
      },
    });
    await query.exportTo(stream, "jsonl");
    expect(text()).toBe(query.export("jsonl"));
    expect(waiting).toBeLessThan(2_000_000);
  });

  test("leaves the stream open if end is false", async () => {
    const { stream, text } = collector();
    await query.exportTo(stream, "csv", { end: false, messages: query.first(2) });
    stream.write("more");
    expect(text()).toContain("message 1");
    expect(stream.writableEnded).toBe(false);
    expect(stream.listenerCount("error")).toBe(0);
  });

  test("rejects with the stream's own error", async () => {
    const failure = new Error("disk full");
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(failure) });
    await expect(query.exportTo(stream, "json")).rejects.toBe(failure);
  });

  test("rejects on a stream that is closed already", async () => {
    const { stream } = collector();
    stream.destroy();
    await expect(query.exportTo(stream, "json")).rejects.toThrow();
  });

  test("stops between pieces when its signal aborts", async () => {
    const abort = new AbortController();
    const { stream, text } = collector({ onChunk: () => abort.abort(new Error("enough")) });
    await expect(query.exportTo(stream, "json", { signal: abort.signal })).rejects.toThrow("enough");
    expect(text().length).toBeLessThan(query.export("json").length);
  });

  test("writes to a web stream, and closes it", async () => {
    const decoder = new TextDecoder();
    let text = "";
    let isClosed = false;
    const target = new WritableStream<Uint8Array>({
      write: (chunk) => {
        text += decoder.decode(chunk, { stream: true });
      },
      close: () => {
        isClosed = true;
      },
    });
    await query.exportTo(target, "jsonl", { end: false });
    expect(isClosed).toBe(false);
    expect(target.locked).toBe(false);
    await query.exportTo(target, "jsonl");
    expect(text).toBe(query.export("jsonl").repeat(2));
    expect(isClosed).toBe(true);
  });

  test("rejects when a web stream fails, and releases it", async () => {
    const target = new WritableStream<Uint8Array>({ write: () => Promise.reject(new Error("gone")) });
    await expect(query.exportTo(target, "json")).rejects.toThrow("gone");
    expect(target.locked).toBe(false);
  });

  test("refuses wrong streams and options with a sentence, before it writes anything", async () => {
    const { stream, text } = collector();
    await expect(query.exportTo(5 as never)).rejects.toThrow(
      "exportTo() needs a stream to write to, of Node or of the web; found 5.",
    );
    await expect(query.exportTo(undefined as never)).rejects.toThrow("exportTo() needs a stream to write to");
    await expect(query.exportTo(stream, "json", { redact: "yes" as never })).rejects.toThrow(
      '"redact" must be true, false or a redactor; found "yes".',
    );
    await expect(query.exportTo(stream, "json", { close: true } as object)).rejects.toThrow(
      'Unknown exportTo option "close". Valid options: messages, includeMetadata, indent, maxContentLength, redact, end, signal.',
    );
    await expect(query.exportTo(stream, "json", null as never)).rejects.toThrow(
      "The exportTo options must be an object",
    );
    expect(text()).toBe("");
  });

  test("refuses a format that is no text, before it writes anything", async () => {
    const { stream, text } = collector();
    await expect(query.exportTo(stream, "dict" as "json")).rejects.toThrow(
      expect.objectContaining({ code: "invalid-argument" }),
    );
    expect(text()).toBe("");
  });
});
