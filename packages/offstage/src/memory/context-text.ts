// Context as text: messages written out for prompts that are text, for embedders and for summarisers.
import { type Message, textOf, toolCallsOf } from "../messages/message.ts";
import { type ClipOptions, clipText } from "./clip-message.ts";
import { fitContext } from "./fit.ts";

const labels = { system: "System", user: "User", assistant: "Assistant", tool: "Result" } as const;

/** Writes out one message: its role, its text and its tool calls. */
export function messageText(message: Message): string {
  const label =
    message.role === "tool" && message.name !== undefined ? `Result of ${message.name}` : labels[message.role];
  const calls = toolCallsOf(message).map(
    ({ function: called }) => `Assistant calls ${called.name} ${called.arguments}`,
  );
  const text = textOf(message);
  return [...(text === "" && calls.length > 0 ? [] : [`${label}: ${text}`]), ...calls].join("\n");
}

/** Writes messages out as one text within the limit. Drops messages by the same rule as `fitContext`. */
export function contextText(messages: readonly Message[], { limit, counter }: ClipOptions): string {
  let kept = messages;
  for (let room = limit; kept.length > 0; room = Math.floor(room * 0.9)) {
    const text = kept.map(messageText).join("\n\n");
    if (counter.count(text) <= limit) return text;
    if (room < 32) return clipText(text, { limit, counter });
    kept = fitContext(messages, { limit: room, counter });
  }
  return "";
}
