// Help: the overview of all commands, and the page of one, from the table and the command itself.
import { globalOptions } from "./arguments.ts";
import { type Command, type CommandRow, groups, type OptionSpecs } from "./command.ts";
import type { Io } from "./io.ts";
import { columnsOf, pad, wrap } from "./output/columns.ts";

/** The overview. */
export function overview(rows: readonly CommandRow[], io: Io): string {
  const lines = [
    `${io.paint("bold", "offstage")} reads what your agents said and did.`,
    "",
    io.paint("dim", "offstage [--store sqlite:./offstage.db] [--json] <command>"),
  ];
  for (const [group, title] of Object.entries(groups)) {
    const own = rows.filter((row) => row.group === group);
    if (own.length === 0) continue;
    lines.push("", io.paint("bold", title));
    lines.push(
      ...described(
        own.map(({ name, usage, summary }) => [`${name} ${usage}`.trim(), summary]),
        io,
      ),
    );
  }
  lines.push("", io.paint("bold", "Options of every command"), ...optionLines(globalOptions, io));
  lines.push(
    "",
    ...wrap(
      "Ids may be cut to a beginning that is unambiguous, and the latest one is called last. Exit codes: 0 found, 1 nothing found or a run failed, 2 wrong usage, 3 the store failed.",
      io.width,
    ),
  );
  return `${lines.join("\n")}\n`;
}

/** The page of one command. */
export function commandHelp(
  { name, usage, summary }: CommandRow,
  { options, examples, keys, notes }: Command,
  io: Io,
): string {
  const own = optionLines(options, io);
  const lines = [
    `${io.paint("bold", `offstage ${name}`)}${usage === "" ? "" : ` ${usage}`}`,
    "",
    ...wrap(sentence(summary), io.width),
    ...(notes === undefined ? [] : ["", ...wrap(notes, io.width)]),
    ...(own.length === 0 ? [] : ["", io.paint("bold", "Options"), ...own]),
    "",
    io.paint("bold", "Options of every command"),
    ...optionLines(globalOptions, io),
    "",
    io.paint("bold", examples.length === 1 ? "Example" : "Examples"),
    ...examples.map((example) => `  ${example}`),
    ...(keys.length === 0
      ? []
      : ["", io.paint("bold", "Keys of --json"), ...wrap(keys.join(", "), io.width - 2).map((line) => `  ${line}`)]),
  ];
  return `${lines.join("\n")}\n`;
}

/** A summary as a sentence. */
export function sentence(summary: string): string {
  return `${summary[0]?.toUpperCase()}${summary.slice(1)}.`;
}

/** An option as it is typed: "--since <time>". */
export function optionUsage(name: string, { type, value, short, choices }: OptionSpecs[string]): string {
  const shown = type === "boolean" ? "" : ` <${choices?.join("|") ?? value ?? name}>`;
  return `${short === undefined ? "" : `-${short}, `}--${name}${shown}`;
}

function optionLines(options: OptionSpecs, io: Io): string[] {
  return described(
    Object.entries(options).map(([name, spec]) => [optionUsage(name, spec), spec.text]),
    io,
  );
}

const widest = 30;

// A list of terms with their descriptions beside them, or below them if the terminal is narrow.
function described(entries: readonly (readonly [term: string, text: string])[], io: Io): string[] {
  const width = Math.min(widest, Math.max(...entries.map(([term]) => columnsOf(term))));
  const room = io.width - width - 4;
  return entries.flatMap(([term, text]) => {
    const isBeside = room >= 24 && columnsOf(term) <= width;
    if (!isBeside) return [`  ${io.paint("cyan", term)}`, ...wrap(text, io.width - 6).map((line) => `      ${line}`)];
    const [first = "", ...others] = wrap(text, room);
    return [
      `  ${io.paint("cyan", pad(term, width))}  ${first}`,
      ...others.map((line) => `${" ".repeat(width + 4)}${line}`),
    ];
  });
}
