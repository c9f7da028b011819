// The requests that Ollama refuses: it decodes JSON into typed fields, and images from base64.
import type { FakeRequest, Json } from "./fake-provider.ts";
import { isBase64 } from "./openai-rules.ts";

/** Returns the first rule that a request breaks, or undefined. */
export function ollamaProblem({ body }: FakeRequest): string | undefined {
  const messages = body.messages as readonly Json[];
  if (typeof body.model !== "string") return "model is required";
  if (!Array.isArray(messages) || messages.length === 0) return "messages is required";
  return messages.map(messageProblem).find((problem) => problem !== undefined);
}

function messageProblem({ role, content, images = [], tool_calls: calls = [] }: Json): string | undefined {
  if (!/^(system|user|assistant|tool)$/.test(String(role))) return `invalid role: ${role}`;
  if (content !== undefined && typeof content !== "string")
    return "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string";
  for (const image of images as readonly unknown[])
    if (typeof image !== "string" || !isBase64(image)) return "illegal base64 data in images";
  for (const { function: called } of calls as readonly { function: Json }[])
    if (typeof called.arguments !== "object" || called.arguments === null)
      return "cannot unmarshal tool call arguments";
  return undefined;
}
