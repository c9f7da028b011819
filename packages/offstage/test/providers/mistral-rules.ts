// The requests that the Mistral API refuses, according to its reference and its error messages.
import type { FakeRequest, Json } from "./fake-provider.ts";
import { isToolName } from "./openai-rules.ts";

const followers: Record<string, readonly string[]> = {
  system: ["system", "user", "assistant"],
  user: ["user", "assistant", "system"],
  assistant: ["assistant", "user", "tool"],
  tool: ["tool", "assistant"],
};

/** Returns the first rule that a request breaks, or undefined. */
export function mistralProblem({ body, headers }: FakeRequest): string | undefined {
  const messages = body.messages as readonly Json[];
  if (!/^Bearer .+/.test(headers.authorization ?? "")) return "Unauthorized";
  if (!Array.isArray(messages) || messages.length === 0) return "messages: empty";
  return (
    messages.map(messageProblem).find((problem) => problem !== undefined) ??
    orderProblem(messages) ??
    pairingProblem(messages)
  );
}

function messageProblem({ role, content, tool_calls: calls = [], tool_call_id: id, name }: Json): string | undefined {
  if (role === "tool") return idProblem(id) ?? (isToolName(name) ? undefined : `Function name was ${name}`);
  for (const call of calls as readonly { id: unknown; function: Json }[]) {
    const problem =
      idProblem(call.id) ?? (isToolName(call.function.name) ? undefined : `Function name was ${call.function.name}`);
    if (problem !== undefined) return problem;
  }
  if (role === "assistant" && content === "" && (calls as unknown[]).length === 0)
    return "Assistant message must have either content or tool_calls, but not none.";
  const kinds = Array.isArray(content) ? content.map(({ type }: Json) => String(type)) : [];
  const unknown = kinds.find((kind) => !/^(text|image_url|document_url|thinking)$/.test(kind));
  return unknown === undefined ? undefined : `unknown content chunk ${unknown}`;
}

function idProblem(id: unknown): string | undefined {
  if (/^[A-Za-z0-9]{9}$/.test(String(id))) return undefined;
  return `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`;
}

function orderProblem(messages: readonly Json[]): string | undefined {
  for (const [index, { role }] of messages.entries()) {
    const before = messages[index - 1];
    if (before !== undefined && !followers[String(before.role)]?.includes(String(role)))
      return `Unexpected role '${role}' after role '${before.role}'`;
  }
  const last = messages.at(-1);
  if (last?.role === "user" || last?.role === "tool" || last?.prefix === true) return undefined;
  return `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last?.role}`;
}

function pairingProblem(messages: readonly Json[]): string | undefined {
  const open = new Set<unknown>();
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === "tool" && !open.delete(id)) return "Unexpected tool call id";
    if (role !== "tool" && open.size > 0) return "Not the same number of function calls and responses";
    for (const call of calls as readonly Json[]) open.add(call.id);
  }
  return open.size === 0 ? undefined : "Not the same number of function calls and responses";
}
