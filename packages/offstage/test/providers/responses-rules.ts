// The requests that OpenAI's Responses API refuses, according to its reference. Remembers its own items, which requests may refer to.
import type { FakeRequest, Json } from "./fake-provider.ts";
import { isBase64, isToolName } from "./openai-rules.ts";

export interface ResponsesRules {
  /** Returns the first rule that a request breaks, or undefined. */
  problem(request: FakeRequest): string | undefined;
  /** The items of each reply, in order. */
  remember(items: readonly Json[]): void;
}

/** Rules for one server. */
export function responsesRules(): ResponsesRules {
  const known = new Map<unknown, Json>();
  return {
    remember: (items) => {
      for (const item of items) known.set(item.id, item);
    },
    problem({ body, headers }) {
      const input = body.input as readonly Json[];
      if (!/^Bearer .+/.test(headers.authorization ?? "")) return "You didn't provide an API key.";
      if (!Array.isArray(input) || input.length === 0) return "Missing required parameter: 'input'.";
      const lost = input.find(({ type, id }) => type === "item_reference" && !known.has(id));
      if (lost !== undefined) return `Item with id '${lost.id}' not found.`;
      const items = input.map((item) => (item.type === "item_reference" ? (known.get(item.id) as Json) : item));
      return items.map(itemProblem).find((problem) => problem !== undefined) ?? pairingProblem(items);
    },
  };
}

function itemProblem(item: Json): string | undefined {
  const { type = "message", role, content, call_id: id, name } = item;
  if (type === "reasoning" || type === "web_search_call") return undefined;
  if (type === "message") {
    if (!/^(user|assistant|system|developer)$/.test(String(role))) return `Invalid value: '${role}'.`;
    return Array.isArray(content) ? content.map(partProblem).find((problem) => problem !== undefined) : undefined;
  }
  if (type !== "function_call" && type !== "function_call_output") return `Invalid value: '${type}'.`;
  if (!/^\S{1,64}$/.test(String(id))) return `Invalid 'call_id': '${id}'.`;
  return type === "function_call" && !isToolName(name) ? `Invalid 'name': '${name}'.` : undefined;
}

function partProblem({ type, text, image_url: image, file_data: file, file_url: url }: Json): string | undefined {
  if (type === "input_text" || type === "output_text") return typeof text === "string" ? undefined : "text is missing";
  if (type === "input_file" && url !== undefined) return undefined;
  if (type !== "input_image" && type !== "input_file") return `Invalid value: '${type}'.`;
  const source = String(type === "input_image" ? image : file);
  if (type === "input_image" && /^https?:/.test(source)) return undefined;
  const encoded = /^data:(?:image\/(?:png|jpeg|gif|webp)|application\/pdf);base64,(.*)$/.exec(source)?.[1];
  return encoded !== undefined && isBase64(encoded) ? undefined : `Invalid '${type}'.`;
}

function pairingProblem(items: readonly Json[]): string | undefined {
  const open = new Set<unknown>();
  for (const { type, call_id: id } of items) {
    if (type === "function_call") open.add(id);
    if (type === "function_call_output" && !open.delete(id))
      return `No tool call found for function call output with call_id ${id}.`;
  }
  return open.size === 0 ? undefined : `No tool output found for function call ${[...open]}.`;
}
