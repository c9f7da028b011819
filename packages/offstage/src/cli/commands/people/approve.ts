// offstage approve: lets a call run that waits for a person, and continues its run.
import { parseJson } from "../../../base/json.ts";
import { contextOption } from "../../agents/context.ts";
import { decide, decisionKeys } from "../../agents/decide.ts";
import { agentOption } from "../../agents/load-agent.ts";
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";

export const command: Command = defineCommand({
  options: {
    agent: agentOption,
    context: contextOption,
    input: { type: "string", value: "json", text: "another input than the model's; the model is shown it as its own" },
  },
  examples: [
    "offstage approve last --agent ./agent.ts",
    `offstage approve 3f9a call_1 --agent ./agent.ts --input '{"euros":8}'`,
  ],
  keys: decisionKeys,
  notes: "The call may be left out if only one waits. last is the latest run in which a call waits.",
  async run({ positionals: [run = "", call], values: { agent, context, input } }, io) {
    const edited = input === undefined ? undefined : parseJson(input);
    if (input !== undefined && edited === undefined) throw new UsageError(`--input must be JSON; found "${input}".`);
    return decide(io, {
      ...{ run, call, agent, context, kind: "call" },
      decisionOn: ({ toolCallId, runId }) => ({
        approve: [{ toolCallId, runId, ...(edited !== undefined && { input: edited }) }],
      }),
    });
  },
});
