// Runs one command line: finds the command, reads its arguments, and turns what went wrong into a sentence and an exit code.
import { isOffstageError } from "../errors.ts";
import { parseBare, parseLine, splitLine, UsageError } from "./arguments.ts";
import type { ExitCode } from "./command.ts";
import { commandHelp, overview } from "./help.ts";
import { type GlobalOptions, ioOf, safeSentence, type World } from "./io.ts";
import { errorWords } from "./output/words.ts";
import { commandRow, commandRows, loadCommands } from "./table.ts";

/** Runs a command line and resolves with its exit code. Never rejects. */
export async function runCli(argv: readonly string[], world: World): Promise<ExitCode> {
  try {
    return await dispatch(argv, world);
  } catch (error) {
    return reportFailure(error, world);
  }
}

async function dispatch(argv: readonly string[], world: World): Promise<ExitCode> {
  const { name, rest } = splitLine(argv);
  if (name === undefined) return withoutCommand(rest, world);
  if (name === "help") return dispatch(rest[0] === undefined ? ["--help"] : [...rest, "--help"], world);
  const row = commandRow(name);
  if (row === undefined) {
    const names = commandRows.map((each) => each.name).join(", ");
    throw new UsageError(`Unknown command "${name}". Commands: ${names}. offstage --help says what they do.`);
  }
  const command = await row.load();
  const { args, globals, wantsHelp } = parseLine(rest, row, command);
  if (wantsHelp) {
    world.stdout.write(commandHelp(row, command, plainIo(world, globals)));
    return 0;
  }
  const { cliStore } = await import("./store/open.ts");
  const store = cliStore(world, globals);
  const io = ioOf(world, globals, (options) => store.open(options));
  try {
    return await command.run({ ...args, commands: loadCommands }, io);
  } finally {
    io.progress(undefined);
    await store.close();
    for (const sentence of damageSentences(store.damage)) io.note(sentence);
  }
}

async function withoutCommand(words: readonly string[], world: World): Promise<ExitCode> {
  const { globals, wantsVersion, wantsHelp } = parseBare(words);
  if (wantsVersion) {
    const { version } = await import("../version.ts");
    world.stdout.write(`${version}\n`);
    return 0;
  }
  world.stdout.write(overview(commandRows, plainIo(world, globals)));
  return wantsHelp ? 0 : 2;
}

function plainIo(world: World, globals: GlobalOptions): ReturnType<typeof ioOf> {
  return ioOf(world, globals, () => Promise.reject(new Error("Help opens no store.")));
}

const mostDamage = 3;

function damageSentences(damage: readonly Error[]): string[] {
  if (damage.length === 0) return [];
  const rows = damage.length === 1 ? "1 row" : `${damage.length} rows`;
  return [
    `offstage: store-corrupt: ${rows} could not be read and ${damage.length === 1 ? "is" : "are"} left out. offstage doctor --verify lists all.`,
    ...damage.slice(0, mostDamage).map(({ message }) => `  ${message}`),
  ];
}

const storeCodes = /^(store-|schema-|wrong-key$|session-|missing-package$)/;

function reportFailure(error: unknown, world: World): ExitCode {
  const say = (sentence: string): void => void world.stderr.write(`offstage: ${safeSentence(sentence)}\n`);
  if (world.signal.aborted) return 0;
  if (error instanceof UsageError) {
    say(error.message);
    return 2;
  }
  if (error instanceof Error && error.name === "NotFound") {
    say(error.message);
    return 1;
  }
  if (!isOffstageError(error)) {
    say(`unexpected: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
  say(errorWords(error));
  if (error.code === "invalid-argument" || error.code === "pattern-timeout") return 2;
  return storeCodes.test(error.code) ? 3 : 1;
}
