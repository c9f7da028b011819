// The requests that Bedrock's Converse API refuses, according to its reference.
import type { FakeRequest, Json } from "./fake-provider.ts";
import { isBase64, isToolName } from "./openai-rules.ts";

interface Message {
  readonly role: string;
  readonly content: readonly Record<string, Json>[];
}

/** Returns the first rule that a request breaks, or undefined. */
export function bedrockProblem({ body, headers }: FakeRequest): string | undefined {
  const messages = body.messages as readonly Message[];
  if (!/^Bearer .+/.test(headers.authorization ?? "")) return "The security token included in the request is invalid.";
  if (!Array.isArray(messages) || messages.length === 0) return "messages must not be empty";
  return (
    messages.map(messageProblem).find((problem) => problem !== undefined) ??
    pairingProblem(messages) ??
    toolsProblem(messages, body.toolConfig)
  );
}

function messageProblem({ role, content }: Message, index: number): string | undefined {
  const expected = index % 2 === 0 ? "user" : "assistant";
  if (index === 0 && role !== "user") return "A conversation must start with a user message.";
  if (role !== expected) return "A conversation must alternate between user and assistant roles.";
  if (!Array.isArray(content) || content.length === 0) return `The content field in the Message at ${index} is empty.`;
  if (content.some(({ document }) => document !== undefined) && !content.some(({ text }) => text !== undefined))
    return "A text block must be included in a message with documents.";
  return content.map(blockProblem).find((problem) => problem !== undefined);
}

const formats: Record<string, RegExp> = {
  image: /^(png|jpeg|gif|webp)$/,
  document: /^(pdf|csv|doc|docx|xls|xlsx|html|txt|md)$/,
  video: /^(mkv|mov|mp4|webm|flv|mpeg|mpg|wmv|three_gp)$/,
};

function blockProblem(block: Record<string, Json>): string | undefined {
  const [[kind, value] = []] = Object.entries(block);
  if (kind === "text") return String(value).trim() === "" ? "The text field in the ContentBlock is blank." : undefined;
  if (kind === "toolUse" || kind === "toolResult") return toolProblem(kind, value as Json);
  if (kind === "reasoningContent") return undefined;
  if (kind === "cachePoint") return (value as Json).type === "default" ? undefined : "The cachePoint is invalid.";
  const { format, source } = (value ?? {}) as { format?: unknown; source?: Json };
  const isKnown = formats[kind ?? ""]?.test(String(format));
  return isKnown && isBase64(String(source?.bytes)) ? undefined : `The ${kind} block is invalid.`;
}

function toolProblem(kind: string, { toolUseId, name, input, content }: Json): string | undefined {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(toolUseId))) return `toolUseId '${toolUseId}' failed to satisfy constraint`;
  if (kind === "toolResult")
    return Array.isArray(content) && content.length > 0 ? undefined : "toolResult.content is empty";
  return isToolName(name) && typeof input === "object" ? undefined : `toolUse '${name}' is invalid`;
}

function pairingProblem(messages: readonly Message[]): string | undefined {
  let open = new Set<unknown>();
  for (const { role, content } of messages) {
    const results = content.flatMap(({ toolResult }) => (toolResult === undefined ? [] : [toolResult.toolUseId]));
    if (role === "user" && (results.length !== open.size || results.some((id) => !open.has(id))))
      return "The number of toolResult blocks does not match the number of toolUse blocks of the previous turn.";
    open = new Set(content.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [toolUse.toolUseId])));
  }
  return messages.at(-1)?.role === "user" ? undefined : "A conversation must end with a user message.";
}

function toolsProblem(messages: readonly Message[], toolConfig: unknown): string | undefined {
  const isUsed = messages.some(({ content }) => content.some(({ toolUse }) => toolUse !== undefined));
  return isUsed && toolConfig === undefined ? "The toolConfig field must be defined when using toolUse." : undefined;
}
