// offstage export: a session or a run in a format for people or for programs.
import { createWriteStream, existsSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { Writable } from "node:stream";
import type { MessageQuery } from "../../../query/message-query.ts";
import { type Command, defineCommand } from "../../command.ts";
import { confirm, yesOption } from "../../confirm.ts";
import type { Io } from "../../io.ts";
import { counted, fileSize } from "../../output/words.ts";
import { NotFound } from "../../store/find.ts";
import { queryOf } from "../../store/find-query.ts";

const formats = {
  md: "markdown",
  markdown: "markdown",
  html: "html",
  json: "json",
  jsonl: "jsonl",
  csv: "csv",
} as const;

type Format = (typeof formats)[keyof typeof formats];

export const command: Command = defineCommand({
  options: {
    format: { type: "string", short: "f", text: "default md", choices: ["md", "html", "json", "jsonl", "csv"] },
    redact: { type: "boolean", text: "without secrets: keys, tokens, passwords" },
    out: { type: "string", short: "o", value: "file", text: "write to a file instead of standard output" },
    yes: { ...yesOption, text: "replace the file if it exists" },
  },
  examples: ["offstage export last > report.md", "offstage export 3f9a --format html --redact --out report.html"],
  keys: ["file", "format", "messages", "bytes"],
  notes:
    "Of a run, it is a bug report: instructions, messages, subagents, error, usage. Exports are exact: pass --redact before you share one. offstage import reads json and jsonl back.",
  async run({ positionals: [wanted = "last"], values: { format, redact = false, out, yes } }, io) {
    const chosen =
      formats[(format as keyof typeof formats | undefined) ?? (io.isJson && out === undefined ? "jsonl" : "md")];
    const query = await queryOf(await io.openStore(), wanted);
    if (query.length === 0) throw new NotFound(`"${wanted}" has no messages.`);
    if (out === undefined) {
      await query.exportTo(streamOf(io), chosen, { redact, end: false });
      return 0;
    }
    const file = resolve(io.world.cwd, out);
    const untold = `"${out}" exists and was left as it is. --yes replaces it.`;
    if (existsSync(file) && !(await confirm(io, `"${out}" exists. Replace it?`, yes, untold))) return 2;
    const bytes = await exportToFile(io, query, { file, format: chosen, redact });
    if (io.isJson) io.record({ file, format: chosen, messages: query.length, bytes });
    else io.print(`${io.inline(file)}  ${io.paint("dim", `${counted(query.length, "message")}, ${fileSize(bytes)}`)}`);
    return 0;
  },
});

// Written beside and moved into place, so that no half of an export looks like a whole one.
async function exportToFile(
  io: Io,
  query: MessageQuery,
  { file, format, redact }: { readonly file: string; readonly format: Format; readonly redact: boolean },
): Promise<number> {
  const part = `${file}.${process.pid}.part`;
  const target = createWriteStream(part, { flags: "wx" });
  const timer = setInterval(() => io.progress(`${fileSize(target.bytesWritten)} written`), 200);
  try {
    await query.exportTo(target, format, { redact });
    renameSync(part, file);
    return target.bytesWritten;
  } finally {
    clearInterval(timer);
    rmSync(part, { force: true });
  }
}

function streamOf({ world: { stdout } }: Io): Writable {
  if (stdout instanceof Writable) return stdout;
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      stdout.write(chunk.toString());
      done();
    },
  });
}
