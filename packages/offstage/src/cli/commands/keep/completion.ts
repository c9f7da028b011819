// offstage completion: prints the completion script of a shell.
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";
import { completionScript, shells } from "../../completion.ts";

export const command: Command = defineCommand({
  options: {},
  examples: [
    'eval "$(offstage completion bash)"',
    "offstage completion fish > ~/.config/fish/completions/offstage.fish",
  ],
  keys: ["shell", "script"],
  async run({ positionals: [name = ""], commands }, io) {
    const shell = shells.find((each) => each === name);
    if (shell === undefined) throw new UsageError(`Unknown shell "${name}". Valid: ${shells.join(", ")}.`);
    const script = completionScript(shell, await commands());
    if (io.isJson) io.record({ shell, script });
    else io.print(script.trimEnd());
    return 0;
  },
});
