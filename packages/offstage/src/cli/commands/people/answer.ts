// offstage answer: answers the question of a tool, and continues its run.
import { answerFrom } from "../../agents/answers.ts";
import { contextOption } from "../../agents/context.ts";
import { decide, decisionKeys } from "../../agents/decide.ts";
import { agentOption } from "../../agents/load-agent.ts";
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";

export const command: Command = defineCommand({
  options: {
    agent: agentOption,
    context: contextOption,
    decline: { type: "boolean", text: "do not answer; the tool is told so" },
  },
  examples: [
    "offstage answer 3f9a call_1 12A --agent ./agent.ts",
    "offstage answer 3f9a call_1 --decline --agent ./agent.ts",
  ],
  keys: decisionKeys,
  notes:
    "The answer is text, a number, yes or no, or JSON, as the question wants it. If the question has one field, its value is enough. last is the latest run in which a question waits.",
  async run({ positionals: [run = "", call = "", ...words], values: { agent, context, decline = false } }, io) {
    if (decline !== (words.length === 0)) throw new UsageError("offstage answer needs an answer, or --decline.");
    return decide(io, {
      ...{ run, call, agent, context, kind: "question" },
      decisionOn: (question) => {
        const { toolCallId, runId } = question;
        if (decline) return { answers: [{ toolCallId, runId, declined: true }] };
        const schema = question.kind === "question" ? question.schema : undefined;
        return { answers: [{ toolCallId, runId, value: answerFrom(words.join(" "), schema) }] };
      },
    });
  },
});
