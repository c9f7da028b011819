// The requests that the Anthropic messages API refuses, according to its reference. Remembers its own replies, since thinking
// must be sent back unchanged.
import type { FakeRequest, Json } from "./fake-provider.ts";
import { isBase64, isToolName } from "./openai-rules.ts";

export interface AnthropicRules {
  /** Returns the first rule that a request breaks, or undefined. */
  problem(request: FakeRequest): string | undefined;
  /** The blocks of each reply, in order. */
  remember(blocks: readonly Json[]): void;
}

interface Message {
  readonly role: string;
  readonly content: readonly Json[];
}

/** Rules for one server. */
export function anthropicRules(): AnthropicRules {
  const said: (readonly Json[])[] = [];
  return {
    remember: (blocks) => void said.push(blocks),
    problem({ body, headers }) {
      const { messages, max_tokens, tools } = body as { messages: Message[]; max_tokens: unknown; tools: unknown };
      if (headers["x-api-key"] === undefined) return "x-api-key header is required";
      if (headers["anthropic-version"] === undefined) return "anthropic-version: header is required";
      if (!Number.isInteger(max_tokens)) return "max_tokens: Field required";
      if (!Array.isArray(messages) || messages.length === 0) return "messages: at least one message is required";
      return (
        alternationProblem(messages) ??
        messages.flatMap(({ content }) => content.map(blockProblem)).find((problem) => problem !== undefined) ??
        pairingProblem(messages) ??
        thinkingProblem(messages, said) ??
        toolsProblem(messages, tools)
      );
    },
  };
}

function alternationProblem(messages: readonly Message[]): string | undefined {
  for (const [index, { role, content }] of messages.entries()) {
    const expected = index % 2 === 0 ? "user" : "assistant";
    if (role !== expected) return `messages.${index}: roles must alternate; expected "${expected}", got "${role}"`;
    if (!Array.isArray(content) || content.length === 0) return `messages.${index}: all messages must have content`;
  }
  return messages.at(-1)?.role === "user" ? undefined : "the conversation must end with a user message";
}

function blockProblem(block: Json): string | undefined {
  switch (block.type) {
    case "text":
      return String(block.text).trim() === "" ? "text content blocks must contain non-whitespace text" : undefined;
    case "thinking":
      return typeof block.signature === "string" && block.signature !== "" ? undefined : "signature: Field required";
    case "redacted_thinking":
      return typeof block.data === "string" ? undefined : "redacted_thinking.data: Field required";
    case "tool_use":
      return toolUseProblem(block);
    case "tool_result":
      return typeof block.content === "string" || Array.isArray(block.content) ? undefined : "content: invalid";
    case "image":
      return imageProblem(block.source as Json);
    case "document":
      return documentProblem(block.source as Json);
    case "server_tool_use":
      return isObject(block.input) ? undefined : "server_tool_use.input: Input should be a valid dictionary";
    case "web_search_tool_result":
      return Array.isArray(block.content) ? undefined : "web_search_tool_result.content: Input should be a valid list";
    case "mcp_tool_use":
      return isObject(block.input) ? undefined : "mcp_tool_use.input: Input should be a valid dictionary";
    case "mcp_tool_result":
      return Array.isArray(block.content) ? undefined : "mcp_tool_result.content: Input should be a valid list";
    default:
      return `unknown content block type "${block.type}"`;
  }
}

function toolUseProblem({ id, name, input }: Json): string | undefined {
  if (!/^[a-zA-Z0-9_-]+$/.test(String(id))) return `tool_use.id: "${id}" should match pattern '^[a-zA-Z0-9_-]+$'`;
  if (!isToolName(name)) return `tool_use.name: "${name}" is invalid`;
  return isObject(input) ? undefined : "tool_use.input: Input should be a valid dictionary";
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function imageProblem({ type, url, media_type, data }: Json): string | undefined {
  if (type === "url") return /^https:\/\/\S+$/.test(String(url)) ? undefined : "image.source.url: invalid";
  const isKnown = /^image\/(png|jpeg|gif|webp)$/.test(String(media_type));
  return type === "base64" && isKnown && isBase64(String(data)) ? undefined : "image.source.base64: invalid";
}

function documentProblem({ type, media_type, data }: Json): string | undefined {
  const isPdf = type === "base64" && media_type === "application/pdf" && isBase64(String(data));
  return isPdf || type === "url" || type === "text" ? undefined : "document.source: invalid";
}

function pairingProblem(messages: readonly Message[]): string | undefined {
  const used = new Set<unknown>();
  let open = new Set<unknown>();
  for (const { role, content } of messages) {
    const blocks = content.filter(({ type }) => type === (role === "user" ? "tool_result" : "tool_use"));
    if (role === "user") {
      const stray = blocks.find(({ tool_use_id }) => !open.delete(tool_use_id));
      if (stray !== undefined)
        return `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray.tool_use_id}`;
      if (open.size > 0) return `tool_use ids were found without tool_result blocks immediately after: ${[...open]}`;
      if (content.slice(0, blocks.length).some(({ type }) => type !== "tool_result"))
        return "tool_result blocks must come first in the content of a user message";
      continue;
    }
    open = new Set(blocks.map(({ id }) => id));
    if (open.size < blocks.length || blocks.some(({ id }) => used.has(id))) return "`tool_use` ids must be unique";
    for (const id of open) used.add(id);
  }
  return undefined;
}

// Within a turn, the thinking before a call must be sent back unchanged and in its place.
function thinkingProblem(messages: readonly Message[], said: readonly (readonly Json[])[]): string | undefined {
  for (const [index, { content }] of messages.entries()) {
    if (index <= messages.findLastIndex(isSpoken)) continue;
    const call = content.find(({ type }) => type === "tool_use");
    if (call === undefined) continue;
    const own = said.find((blocks) => blocks.some(({ type, id }) => type === "tool_use" && id === call.id));
    const expected = JSON.stringify((own ?? []).filter(isThinking));
    if (own !== undefined && JSON.stringify(content.filter(isThinking)) !== expected)
      return "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified";
    const last = content.findLastIndex(isThinking);
    if (last > content.indexOf(call)) return "expected `thinking` before `tool_use`";
  }
  return undefined;
}

function isThinking({ type }: Json): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function isSpoken({ role, content }: Message): boolean {
  return role === "user" && content.some(({ type }) => type !== "tool_result");
}

function toolsProblem(messages: readonly Message[], tools: unknown): string | undefined {
  const isUsed = messages.some(({ content }) => content.some(({ type }) => type === "tool_use"));
  return isUsed && !Array.isArray(tools) ? "Requests which include `tool_use` blocks must define tools" : undefined;
}
