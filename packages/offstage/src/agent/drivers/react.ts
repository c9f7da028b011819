// The ReAct driver: thought, action and observation as plain text, for models without tool calling. Calls and results are stored
// as ordinary tool messages; only the model sees them as text.
import { type Message, type ToolMessage, textOf, toolCallsOf } from "../../messages/message.ts";
import { resultParts } from "../../models/content-parts.ts";
import type { PromptMessage } from "../../models/model.ts";
import { promptMessage, type ToPrompt } from "../../models/prompt.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Driver, Reading } from "../ports/driver.ts";
import { readDecision } from "./react-decision.ts";
import { answerListener } from "./react-listener.ts";

/**
 * A text protocol for models without tool calling. Plain prose counts as the answer; a thought without an action is sent back
 * with a correction.
 */
export function reactDriver(): Driver {
  return {
    name: "react",
    preamble,
    modelTools: () => undefined,
    toPrompt: asText,
    settings: { stopSequences: ["\nObservation:"] },
    read: ({ text }): Reading => readDecision(text),
    listen: answerListener,
  };
}

function preamble(tools: readonly Tool[]): string | undefined {
  if (tools.length === 0) return undefined;
  const list = tools.map(
    ({ name, description, schema }) => `- ${name}: ${description ?? ""}\n  input: ${JSON.stringify(schema.jsonSchema)}`,
  );
  return `You can use these tools:
${list.join("\n")}

Work in steps. Each of your replies has exactly one of these two forms.

To use a tool:
Thought: why you need it
Action: the tool's name
Action Input: its input as JSON

The result comes back as "Observation: ...". When you know the answer:
Thought: why you are done
Final Answer: the answer`;
}

// If an assistant message has several calls, its actions are listed first and their observations follow in the same order.
const asText: ToPrompt = (message, toolName) => {
  if (message.role === "tool") return observation(message);
  const calls = toolCallsOf(message);
  return calls.length === 0
    ? promptMessage(message, toolName)
    : { role: "assistant", content: [{ type: "text", text: actionText(message) }] };
};

function observation({ content }: ToolMessage): PromptMessage {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : resultParts(content);
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const files = parts.filter(({ type }) => type === "file");
  return { role: "user", content: [{ type: "text", text: `Observation: ${texts.join("\n")}` }, ...files] };
}

function actionText(message: Message): string {
  const thought = textOf(message);
  const actions = toolCallsOf(message).map(
    (call) => `Action: ${call.function.name}\nAction Input: ${call.function.arguments}`,
  );
  return [...(thought === "" ? [] : [`Thought: ${thought}`]), ...actions].join("\n");
}
