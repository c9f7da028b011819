// The parts that redaction scenarios share: a secret, redactors, and an agent that says the secret everywhere.
import { Agent, type AgentOptions, type Message, tool } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { paying } from "./approval-cast.ts";
import { echo } from "./cast.ts";

/** The text that redactors remove. */
export const canary = "canary-4711";
/** A redactor that removes the canary. */
export const removing = (message: Message): Message => JSON.parse(JSON.stringify(message).replaceAll(canary, "[gone]"));
/** A redactor that marks each message it sees, so that a second pass would show. */
export const prefixing = (message: Message): Message =>
  ({ ...message, ...(typeof message.content === "string" && { content: `#${message.content}` }) }) as Message;

/** A call of `pay` whose arguments contain the canary. */
export const pay = { name: "pay", id: "pay", input: { to: canary } };
const huge = tool({ name: "huge", execute: () => ({ first: canary, pad: "x".repeat(100_000), last: canary }) });
const long = tool({ name: "long", execute: () => `${canary} ${"y".repeat(100_000)} ${canary}` });
const failing = tool({
  name: "failing",
  execute: () => {
    throw new Error(`no ${canary}`);
  },
});

/** An agent that plays a script, with tools whose results contain the canary. */
export function saying(script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}): Agent<unknown> {
  const tools = [huge, long, failing, echo, paying().pay];
  return new Agent({ name: "teller", model: scriptedModel(script), tools, ...options });
}
