// How fast plain JavaScript writes a million messages as CSV and as JSON lines.
import fs from "node:fs";
import path from "node:path";
import { milliseconds } from "./timing.mjs";

const CHUNK = 1 << 20;
const HEADER = "index,role,name,content\n";

/** The measurements, on `messages`, with their files in `folder`. */
export function exportLimits(messages, folder) {
  const measure = (name, work) => ({ name, unit: "ms", run: () => milliseconds(work) });
  return [
    measure("CSV, strings of 1 MB, 1M rows", () => inChunks(messages, { header: HEADER, lineOf: csvLine }, noWrite)),
    measure("CSV, one string by map and join, 1M rows", () => messages.map(csvLine).join("").length),
    measure("CSV to a file, 1M rows", () =>
      toFile(path.join(folder, "export.csv"), messages, { header: HEADER, lineOf: csvLine }),
    ),
    measure("JSON lines to a file, 1M rows", () =>
      toFile(path.join(folder, "export.jsonl"), messages, { header: "", lineOf: jsonLine }),
    ),
  ];
}

function csvLine(message, index) {
  return `${index},${message.role},${message.name ?? ""},${csvCell(message.content ?? "")}\n`;
}

function csvCell(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonLine(message) {
  return `${JSON.stringify(message)}\n`;
}

function noWrite() {}

function toFile(file, messages, format) {
  const descriptor = fs.openSync(file, "w");
  const length = inChunks(messages, format, (text) => fs.writeSync(descriptor, text));
  fs.closeSync(descriptor);
  return length;
}

/** Makes the lines and hands them to `write` a megabyte at a time; gives the length of all. */
function inChunks(messages, { header, lineOf }, write) {
  let text = header;
  let length = 0;
  for (let index = 0; index < messages.length; index++) {
    text += lineOf(messages[index], index);
    if (text.length > CHUNK) {
      write(text);
      length += text.length;
      text = "";
    }
  }
  write(text);
  return length + text.length;
}
