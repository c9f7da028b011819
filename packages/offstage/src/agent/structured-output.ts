// Structured output: the answer must be JSON that fits a schema. What does not fit is sent back with the reason.
import { parseJson } from "../messages/json.ts";
import type { Correction } from "../state/step.ts";
import type { CompiledSchema } from "../tools/schema.ts";

export type OutputCheck = { readonly value: unknown } | { readonly correction: Correction };

/** Put behind the instructions: many servers take the wish for JSON and never show the model its schema. */
export function outputPreamble(schema: CompiledSchema): string {
  return `Your final answer must be JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema.jsonSchema)}`;
}

/** The checked value of an answer, or what the model is told about it. */
export async function checkOutput(schema: CompiledSchema, text: string): Promise<OutputCheck> {
  const parsed = parseJson(unfenced(text));
  if (parsed === undefined) return mismatch("Your answer is not valid JSON.");
  const checked = await schema.check(parsed);
  if ("value" in checked) return checked;
  return mismatch(
    `Your answer does not fit the schema:\n${checked.problems.map((problem) => `- ${problem}`).join("\n")}`,
  );
}

// Models like to wrap JSON in a code fence.
function unfenced(text: string): string {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text);
  return fenced?.[1] ?? text;
}

function mismatch(problem: string): OutputCheck {
  const message = `${problem}\nAnswer again with nothing but JSON that fits the schema.`;
  return { correction: { reason: "output-mismatch", message } };
}
