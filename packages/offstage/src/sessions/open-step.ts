// Open step: a step that did not finish, made of what is known of it. Where that is read from is the affair of others.
import { toolCallsOf } from "../messages/message.ts";
import type { OpenStep } from "./journal.ts";

/** A step as far as it went: which of its calls have no result, and which of those wait. */
export function openStep(done: Omit<OpenStep, "pending" | "waiting">, waited: readonly string[]): OpenStep {
  const settled = new Set(done.results.map((result) => result.tool_call_id));
  const pending = toolCallsOf(done.message).filter((call) => !settled.has(call.id));
  const waiting = waited.filter((id) => pending.some((call) => call.id === id));
  return waiting.length === 0 ? { ...done, pending } : { ...done, pending, waiting };
}
