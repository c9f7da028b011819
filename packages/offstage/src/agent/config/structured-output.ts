// Structured output: the answer must be JSON that matches a schema. An answer that does not is sent back with the reason.
import type { Cancellation } from "../../base/cancellation.ts";
import { parseArguments } from "../../base/json.ts";
import type { Correction } from "../../state/step.ts";
import type { CompiledSchema } from "../../tools/schema.ts";

export type OutputCheck = { readonly value: unknown } | { readonly correction: Correction };

/** Text that is appended to the instructions, because many servers accept a response format and never show it to the model. */
export function outputPreamble(schema: CompiledSchema): string {
  return `Your final answer must be JSON that matches this JSON Schema, and nothing else:\n${JSON.stringify(schema.jsonSchema)}`;
}

/** The checked value of an answer, or the correction for the model. */
export async function checkOutput(
  schema: CompiledSchema,
  text: string,
  cancellation: Cancellation,
): Promise<OutputCheck> {
  const parsed = parseArguments(stripFence(text));
  if (parsed === undefined) return mismatch("Your answer is not valid JSON, or it is nested too deeply.");
  const checked = await schema.check(parsed, cancellation);
  if ("value" in checked) return checked;
  const list = checked.problems.map((problem) => `- ${problem}`).join("\n");
  return mismatch(`Your answer does not match the schema:\n${list}`);
}

// Models often wrap JSON in a code fence. No regular expression: many blank lines would make it slow.
function stripFence(text: string): string {
  const whole = text.trim();
  const isFenced = whole.length > 6 && whole.startsWith("```") && whole.endsWith("```");
  return isFenced ? whole.slice(3, -3).replace(/^json/, "").trim() : text;
}

function mismatch(problem: string): OutputCheck {
  const message = `${problem}\nAnswer again with nothing but JSON that matches the schema.`;
  return { correction: { reason: "output-mismatch", message } };
}
