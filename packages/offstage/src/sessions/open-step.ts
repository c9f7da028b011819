// Builds an unfinished step from its messages, for stores and for memory.
import { toolCallsOf } from "../messages/message.ts";
import type { OpenStep } from "./journal.ts";

/** Adds to an unfinished step which of its calls have no result, and which of those wait for approval. */
export function openStep(done: Omit<OpenStep, "pending" | "waiting">, waited: readonly string[]): OpenStep {
  const settled = new Set(done.results.map((result) => result.tool_call_id));
  const pending = toolCallsOf(done.message).filter((call) => !settled.has(call.id));
  const waiting = waited.filter((id) => pending.some((call) => call.id === id));
  return waiting.length === 0 ? { ...done, pending } : { ...done, pending, waiting };
}
