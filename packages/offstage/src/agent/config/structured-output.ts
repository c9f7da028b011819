// Structured output: the answer must be JSON that fits a schema. An answer that does not fit is sent back with the reason.
import { parseArguments } from "../../base/json.ts";
import type { Correction } from "../../state/step.ts";
import type { CompiledSchema } from "../../tools/schema.ts";

export type OutputCheck = { readonly value: unknown } | { readonly correction: Correction };

/** Follows the instructions: many servers accept a response format and never show the model its schema. */
export function outputPreamble(schema: CompiledSchema): string {
  return `Your final answer must be JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema.jsonSchema)}`;
}

/** The checked value of an answer, or the correction that the model is sent. */
export async function checkOutput(schema: CompiledSchema, text: string): Promise<OutputCheck> {
  const parsed = parseArguments(unfenced(text));
  if (parsed === undefined) return mismatch("Your answer is not valid JSON, or nested too deep.");
  const checked = await schema.check(parsed);
  if ("value" in checked) return checked;
  const list = checked.problems.map((problem) => `- ${problem}`).join("\n");
  return mismatch(`Your answer does not fit the schema:\n${list}`);
}

// Models like to wrap JSON in a code fence. Found without a regular expression, which many blank lines would make slow.
function unfenced(text: string): string {
  const whole = text.trim();
  const isFenced = whole.length > 6 && whole.startsWith("```") && whole.endsWith("```");
  return isFenced ? whole.slice(3, -3).replace(/^json/, "").trim() : text;
}

function mismatch(problem: string): OutputCheck {
  const message = `${problem}\nAnswer again with nothing but JSON that fits the schema.`;
  return { correction: { reason: "output-mismatch", message } };
}
