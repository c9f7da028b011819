// The system text of a run: what the agent was told, what its driver must tell, and the form its output must have.
import { OffstageError } from "../../errors.ts";
import { system } from "../../messages/makers.ts";
import { Messages } from "../../messages/messages.ts";
import type { CompiledSchema } from "../../tools/schema.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Driver } from "../ports/driver.ts";
import { outputPreamble } from "./structured-output.ts";

interface Speaker {
  readonly name: string;
  readonly driver: Driver;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly output: CompiledSchema | undefined;
}

/** The system text as messages: an agent's own text, and what goes with it. Throws where it is no text. */
export function composeInstructions({ name, driver, tools, output }: Speaker, own: unknown): Messages {
  if (own !== undefined && typeof own !== "string") {
    throw new OffstageError(
      "invalid-argument",
      `The instructions of agent "${name}" must be text; found ${typeof own}.`,
    );
  }
  const text = [own, driver.preamble([...tools.values()]), output && outputPreamble(output)]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
  return text === "" ? Messages.empty() : Messages.of(system(text));
}
