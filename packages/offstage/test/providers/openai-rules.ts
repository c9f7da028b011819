// The requests that the OpenAI chat-completions API refuses, according to its reference.
import type { FakeRequest, Json } from "./fake-provider.ts";

const messageFields: Record<string, readonly string[]> = {
  system: ["role", "content", "name"],
  user: ["role", "content", "name"],
  // `reasoning_content` is not from OpenAI, but from DeepSeek and others that the same package supports.
  assistant: ["role", "content", "name", "refusal", "tool_calls", "reasoning_content"],
  tool: ["role", "content", "tool_call_id"],
};

/** Returns the first rule that a request breaks, or undefined. */
export function openAIProblem({ body, headers }: FakeRequest): string | undefined {
  const { model, messages, tools, response_format } = body;
  if (!/^Bearer .+/.test(headers.authorization ?? "")) return "You didn't provide an API key.";
  if (typeof model !== "string") return "you must provide a model parameter";
  if (!Array.isArray(messages) || messages.length === 0) return "Invalid 'messages': empty array.";
  return (
    messages.map(messageProblem).find((problem) => problem !== undefined) ??
    pairingProblem(messages) ??
    toolsProblem(tools) ??
    formatProblem(response_format, messages)
  );
}

function messageProblem(message: Json, index: number): string | undefined {
  const { role, content, tool_calls: calls } = message;
  const fields = messageFields[String(role)];
  const at = `messages[${index}]`;
  if (fields === undefined) return `Invalid value: '${role}' at '${at}.role'.`;
  const unknown = Object.keys(message).find((key) => !fields.includes(key));
  if (unknown !== undefined) return `Additional properties are not allowed ('${unknown}' at '${at}').`;
  if (content === null || content === undefined) {
    if (role !== "assistant" || calls === undefined) return `Invalid value for 'content' at '${at}': got null.`;
  } else if (typeof content !== "string") {
    const problem = Array.isArray(content) ? content.map(partProblem).find(Boolean) : "not text and not a list";
    if (problem !== undefined) return `${at}.content: ${problem}`;
  }
  if (calls === undefined) return undefined;
  if (!Array.isArray(calls) || calls.length === 0) return `Invalid '${at}.tool_calls': empty array.`;
  return calls.map(callProblem).find((problem) => problem !== undefined);
}

function partProblem(part: Json): string | undefined {
  if (part.type === "text") return typeof part.text === "string" ? undefined : "a text part without text";
  if (part.type === "input_audio" || part.type === "file") return dataProblem(part);
  if (part.type !== "image_url") return `unknown part type '${part.type}'`;
  const { url } = part.image_url as { url: unknown };
  if (typeof url !== "string") return "image_url.url must be text";
  if (/^https?:\/\/\S+$/.test(url)) return undefined;
  const encoded = /^data:image\/(png|jpeg|gif|webp);base64,(.*)$/.exec(url)?.[2];
  return encoded !== undefined && isBase64(encoded) ? undefined : `'${url.slice(0, 40)}' is neither a URL nor base64`;
}

function dataProblem({ type, input_audio, file }: Json): string | undefined {
  const { data, format } = (input_audio ?? {}) as Json;
  if (type === "input_audio")
    return isBase64(String(data)) && /^(wav|mp3)$/.test(String(format)) ? undefined : "bad audio";
  const { file_data } = (file ?? {}) as Json;
  const encoded = /^data:application\/pdf;base64,(.*)$/.exec(String(file_data))?.[1];
  return encoded !== undefined && isBase64(encoded) ? undefined : "bad file data";
}

/** Returns true for well-formed base64. */
export function isBase64(text: string): boolean {
  return text !== "" && Buffer.from(text, "base64").toString("base64") === text;
}

function callProblem(call: Json): string | undefined {
  const { id, type, function: called } = call as { id: unknown; type: unknown; function: Json };
  if (typeof id !== "string" || id === "") return "Invalid 'tool_calls[].id': empty string.";
  if (id.length > 40) return `Invalid 'tool_calls[].id': string too long, at most 40 characters: '${id}'.`;
  if (type !== "function") return `Invalid value: '${type}' at 'tool_calls[].type'.`;
  if (!isToolName(called.name)) return `Invalid 'tool_calls[].function.name': '${called.name}'.`;
  if (typeof called.arguments !== "string") return "Invalid type for 'arguments': expected a string.";
  return isJsonObject(called.arguments) ? undefined : `'${called.arguments}' is not a JSON object.`;
}

/** Returns true for a tool name that both providers accept. */
export function isToolName(name: unknown): boolean {
  return typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function pairingProblem(messages: readonly Json[]): string | undefined {
  const open = new Set<unknown>();
  for (const { role, tool_call_id, tool_calls } of messages) {
    if (role === "tool") {
      if (!open.delete(tool_call_id))
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      continue;
    }
    if (open.size > 0) return unanswered(open);
    for (const { id } of (tool_calls ?? []) as Json[]) {
      if (open.has(id)) return `Duplicate value for 'tool_call_id' of '${id}'.`;
      open.add(id);
    }
  }
  return open.size > 0 ? unanswered(open) : undefined;
}

function unanswered(open: ReadonlySet<unknown>): string {
  const ids = [...open].join(", ");
  return `An assistant message with 'tool_calls' must be followed by tool messages; these did not have one: ${ids}`;
}

function toolsProblem(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools) || tools.length === 0) return "Invalid 'tools': empty array.";
  const bad = tools.find((each) => each.type !== "function" || each.function.parameters?.type !== "object");
  return bad === undefined ? undefined : `Invalid schema for function '${bad.function?.name}'.`;
}

function formatProblem(format: unknown, messages: readonly Json[]): string | undefined {
  const { type } = (format ?? {}) as Json;
  if (type !== "json_object" || /json/i.test(JSON.stringify(messages))) return undefined;
  return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
}
