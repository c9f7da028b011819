// Reads the arguments of a command line with util.parseArgs, and refuses what the command does not take.
import { type ParseArgsOptionDescriptor, parseArgs } from "node:util";
import type { Command, CommandArgs, CommandRow, OptionSpecs } from "./command.ts";
import type { GlobalOptions } from "./io.ts";

/** Wrong usage: exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

export const globalOptions: OptionSpecs = {
  store: {
    type: "string",
    value: "address",
    text: "sqlite:./offstage.db (default), postgres://…, redis://…, or the path of a SQLite file; also OFFSTAGE_STORE",
  },
  namespace: { type: "string", value: "name", text: "the tenant" },
  "key-env": {
    type: "string",
    value: "variable",
    text: "the environment variable that holds the key of an encrypted store",
  },
  json: { type: "boolean", text: "one JSON object per line" },
  "no-color": { type: "boolean", text: "no colours; also NO_COLOR" },
  reveal: { type: "boolean", text: "show secrets as they are stored, instead of [redacted]" },
  help: { type: "boolean", short: "h", text: "help for a command" },
};

export interface ParsedLine {
  readonly args: Omit<CommandArgs, "commands">;
  readonly globals: GlobalOptions;
  readonly wantsHelp: boolean;
}

/** Splits a command line into the name of the command and the rest. Options of every command may stand before the name. */
export function splitLine(argv: readonly string[]): { name: string | undefined; rest: string[] } {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string;
    if (word === "--") break;
    if (!word.startsWith("-")) return { name: word, rest: argv.toSpliced(index, 1) };
    const takesValue = ["--store", "--namespace", "--key-env"].includes(word);
    if (takesValue) index++;
  }
  return { name: undefined, rest: [...argv] };
}

/** Reads the words of a command. Throws a UsageError for what it does not take. */
export function parseLine(
  words: readonly string[],
  row: CommandRow,
  { options }: Pick<Command, "options">,
): ParsedLine {
  const { values, positionals } = parseWords(words, { ...globalOptions, ...options }, row.name);
  const { store, namespace, "key-env": keyEnv, json, "no-color": isPlain, reveal, help, ...own } = values;
  const globals = { store, namespace, keyEnv, isJson: json, isPlain, reveals: reveal } as GlobalOptions;
  if (help === true) return { args: { positionals, values: {} }, globals, wantsHelp: true };
  checkChoices(own, options);
  checkPositionals(positionals, row);
  return { args: { positionals, values: own } as ParsedLine["args"], globals, wantsHelp: false };
}

/** Reads a command line without a command. */
export function parseBare(
  words: readonly string[],
): Pick<ParsedLine, "globals" | "wantsHelp"> & { wantsVersion: boolean } {
  const specs = { ...globalOptions, version: { type: "boolean", short: "v", text: "the version" } } as const;
  const { values, positionals } = parseWords(words, specs, "--help");
  const [extra] = positionals;
  if (extra !== undefined) throw new UsageError(`"${extra}" is no command. offstage --help lists the commands.`);
  const { "no-color": isPlain, help, version } = values;
  return { globals: { isPlain: isPlain === true }, wantsHelp: help === true, wantsVersion: version === true };
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

function parseWords(
  words: readonly string[],
  specs: OptionSpecs,
  name: string,
): { values: Values; positionals: string[] } {
  const options = Object.fromEntries(
    Object.entries(specs).map(([option, { type, short, multiple = false }]): [string, ParseArgsOptionDescriptor] => [
      option,
      { type, multiple, ...(short !== undefined && { short }) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
    return { values: values as Values, positionals };
  } catch (error) {
    const [, option] = /^Option '--([^']+)' argument is ambiguous/.exec((error as Error).message) ?? [];
    if (option !== undefined) {
      const given = words[words.indexOf(`--${option}`) + 1] ?? "";
      throw new UsageError(
        specs[option]?.value === "n"
          ? `--${option} takes a whole number; found "${given}".`
          : `--${option} needs a value. Write one that begins with a dash as --${option}=${given}.`,
      );
    }
    const [sentence = ""] = (error as Error).message.split(/[.\n]/, 1);
    const dash = words.find((word) => /^-[^-]/.test(word) || /^--[^\s=]+$/.test(word));
    const hint = dash === undefined ? "" : ` If it is an id, write it behind "--": offstage ${name} -- ${dash}.`;
    const help = name === "--help" ? "offstage --help" : `offstage ${name} --help`;
    throw new UsageError(`${sentence}.${name === "--help" ? "" : hint} ${help} lists the options.`);
  }
}

function checkChoices(values: Values, specs: OptionSpecs): void {
  for (const [name, { choices }] of Object.entries(specs)) {
    const strange = [values[name] ?? []].flat().find((value) => choices?.includes(String(value)) === false);
    if (strange !== undefined)
      throw new UsageError(`Unknown --${name} "${String(strange)}". Valid values: ${choices?.join(", ")}.`);
  }
}

/** The arguments of a usage text: "<run> [step]" has one that is required, and one that is not. */
export function argumentsOf(usage: string): { required: string[]; optional: string[]; hasRest: boolean } {
  const words = usage.split(" ").filter((word) => word !== "");
  return {
    required: words.filter((word) => word.startsWith("<")),
    optional: words.filter((word) => word.startsWith("[")),
    hasRest: usage.includes("…"),
  };
}

function checkPositionals(positionals: readonly string[], { name, usage }: CommandRow): void {
  const { required, optional, hasRest } = argumentsOf(usage);
  const missing = required[positionals.length];
  if (missing !== undefined)
    throw new UsageError(`offstage ${name} needs ${missing}. Usage: offstage ${name} ${usage}`);
  const most = hasRest ? Number.POSITIVE_INFINITY : required.length + optional.length;
  const extra = positionals[most];
  if (extra === undefined) return;
  const takes = usage === "" ? "takes no argument" : `takes ${usage}`;
  throw new UsageError(`offstage ${name} ${takes}; "${extra}" is too much. Put a text with blanks in quotes.`);
}
