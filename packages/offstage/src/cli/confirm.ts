// Asks a person before something is changed. Without a terminal the answer is no.
import { createInterface } from "node:readline/promises";
import type { Io } from "./io.ts";

export const yesOption = { type: "boolean", short: "y", text: "do it, without asking" } as const;

/** True if the person says yes, or said so with `--yes`. Otherwise `untold` tells what to type, if there is nobody to ask. */
export async function confirm(
  io: Io,
  question: string,
  saidYes: boolean | undefined,
  untold: string = "Nothing was changed. --yes does it.",
): Promise<boolean> {
  if (saidYes === true) return true;
  const { stdin, stderr, signal } = io.world;
  if (stdin.isTTY === true && stderr.isTTY === true && !io.isJson) {
    const lines = createInterface({ input: stdin, output: stderr as NodeJS.WriteStream });
    const answer = await lines.question(`${question} [y/N] `, { signal }).catch(() => "");
    lines.close();
    if (/^y(es)?$/i.test(answer.trim())) return true;
    io.note("Nothing was changed.");
    return false;
  }
  io.note(untold);
  return false;
}
