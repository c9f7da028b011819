// The port of a command: what it declares, what it is given, and its exit code; and its row in the table of commands.
import type { Io } from "./io.ts";

/** 0: found or done. 1: nothing found, or a run failed. 2: wrong usage. 3: the store failed. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface OptionSpec {
  readonly type: "string" | "boolean";
  /** A short description, for help, docs and completion. */
  readonly text: string;
  /** The word for its value in help, such as "name". */
  readonly value?: string;
  readonly short?: string;
  /** The values that it takes, for completion and for the check. */
  readonly choices?: readonly string[];
  /** It may be given several times. */
  readonly multiple?: boolean;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

type ValueOf<Spec extends OptionSpec> = Spec["type"] extends "boolean"
  ? boolean
  : Spec["multiple"] extends true
    ? string[]
    : string;

export interface CommandArgs<Options extends OptionSpecs = OptionSpecs> {
  readonly positionals: readonly string[];
  readonly values: { readonly [Name in keyof Options]?: ValueOf<Options[Name]> | undefined };
  /** Loads every command, for completion. */
  commands(): Promise<readonly LoadedCommand[]>;
}

export interface Command<Options extends OptionSpecs = OptionSpecs> {
  readonly options: Options;
  /** Whole command lines. The first is the common case. */
  readonly examples: readonly string[];
  /** The keys of each object that `--json` prints. */
  readonly keys: readonly string[];
  /** One or two sentences below the usage. */
  readonly notes?: string;
  run(args: CommandArgs<Options>, io: Io): Promise<ExitCode>;
}

/** Declares a command, with its options as types. */
export function defineCommand<const Options extends OptionSpecs>(declared: Command<Options>): Command {
  return declared as unknown as Command;
}

/** The groups of commands, in the order of help and docs. */
export const groups = { look: "Look", people: "Talk and decide", keep: "Keep" } as const;

/** A command, as far as help needs it. The rest is in its file, which is loaded when it is called. */
export interface CommandRow {
  readonly name: string;
  readonly group: keyof typeof groups;
  /** Its arguments: <required>, [optional], and … for several. */
  readonly usage: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/** A command with its row in the table. */
export interface LoadedCommand {
  readonly row: CommandRow;
  readonly command: Command;
}
