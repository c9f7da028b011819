// offstage reject: refuses a call that waits for a person, and continues its run. The model reads the reason.
import { contextOption } from "../../agents/context.ts";
import { decide, decisionKeys } from "../../agents/decide.ts";
import { agentOption } from "../../agents/load-agent.ts";
import { type Command, defineCommand } from "../../command.ts";

export const command: Command = defineCommand({
  options: {
    agent: agentOption,
    context: contextOption,
    reason: { type: "string", value: "text", text: "why, for the model" },
  },
  examples: [
    "offstage reject last --agent ./agent.ts",
    'offstage reject 3f9a call_1 --agent ./agent.ts --reason "Too much."',
  ],
  keys: decisionKeys,
  notes: "The call may be left out if only one waits. last is the latest run in which a call waits.",
  async run({ positionals: [run = "", call], values: { agent, context, reason } }, io) {
    return decide(io, {
      ...{ run, call, agent, context, kind: "call" },
      decisionOn: ({ toolCallId, runId }) => ({
        reject: [{ toolCallId, runId, ...(reason !== undefined && { reason }) }],
      }),
    });
  },
});
