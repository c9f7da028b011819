// Blocks: text of a person, an agent or a tool, wrapped and indented, with a line in front that says whose it is.
import type { Io, Style } from "../io.ts";
import { columnsOf, fit, wrap } from "./columns.ts";

/** A heading with a note at the right margin. */
export function headingLine(io: Io, { bar, title, note = "" }: { bar: Style; title: string; note?: string }): string {
  const room = Math.max(4, io.width - 2);
  const left = fit(title, room);
  const free = room - columnsOf(left) - columnsOf(note);
  const right = note === "" || free < 2 ? "" : `${" ".repeat(free)}${io.paint("dim", note)}`;
  return `${io.paint(bar, "▌")} ${io.paint("bold", left)}${right}`;
}

/** Untrusted text, wrapped to the width and indented. */
export function textLines(io: Io, text: string, indent = "  "): string[] {
  return wrap(io.block(text), io.width - indent.length).map((line) => `${indent}${line}`.trimEnd());
}

/** Parts of a line, joined by dots; empty parts are left out. What does not fit is left out at the end. */
export function dotted(io: Io, parts: readonly string[], indent = "  "): string {
  let line = "";
  for (const part of parts.filter((each) => each !== "")) {
    const next = line === "" ? part : `${line} · ${part}`;
    if (columnsOf(next) > io.width - indent.length) break;
    line = next;
  }
  return io.paint("dim", `${indent}${line}`);
}

/** Lines "name  value", the names in one column and the values wrapped. */
export function factLines(io: Io, facts: readonly (readonly [name: string, value: string])[]): string[] {
  const given = facts.filter(([, value]) => value !== "");
  const width = Math.max(0, ...given.map(([name]) => name.length));
  return given.flatMap(([name, value]) => {
    const [first = "", ...rest] = wrap(value, io.width - width - 4);
    return [
      `  ${io.paint("dim", name.padEnd(width))}  ${first}`.trimEnd(),
      ...rest.map((line) => `${" ".repeat(width + 4)}${line}`),
    ];
  });
}
