// Converts a provider prompt back into messages: what a model was sent. The reverse of prompt.ts.
import type { ContentPart, Message, ToolCall } from "../messages/message.ts";
import type { PromptFile, PromptMessage, PromptText } from "./model.ts";

/** The messages of a prompt. */
export function promptMessages(prompt: readonly PromptMessage[]): Message[] {
  return prompt.flatMap(messagesOf);
}

function messagesOf(message: PromptMessage): Message[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [{ role: "user", content: contentOf(message.content) }];
    case "assistant":
      return [assistantOf(message.content)];
    case "tool":
      return message.content.map((part) => ({
        role: "tool" as const,
        tool_call_id: part.toolCallId,
        name: part.toolName,
        content: typeof part.output.value === "string" ? part.output.value : contentOf(part.output.value),
        ...(part.output.type === "error-text" ? { metadata: { isError: true } } : undefined),
      }));
    default:
      return [message as unknown as Message];
  }
}

type AssistantParts = Extract<PromptMessage, { role: "assistant" }>["content"];

function assistantOf(parts: AssistantParts): Message {
  const content = contentOf(parts.filter((part) => part.type === "text" || part.type === "file"));
  const calls = parts.flatMap((part): ToolCall[] => {
    if (part.type !== "tool-call" || (part as { providerExecuted?: boolean }).providerExecuted) return [];
    const { toolCallId: id, toolName: name, input } = part;
    return [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }];
  });
  return {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(calls.length > 0 ? { tool_calls: calls } : undefined),
  };
}

function contentOf(parts: readonly (PromptText | PromptFile)[]): string | ContentPart[] {
  if (parts.every((part) => part.type === "text")) return parts.map((part) => part.text).join("");
  return parts.map((part) => (part.type === "text" ? { type: "text", text: part.text } : { ...part })) as ContentPart[];
}
