// Lesson 34: `stream.partial` yields structured output while it is written, so that a page can fill in field by field.
// Partial values are not checked by the schema. `result.output` is.
import { Agent } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const Recipe = z.object({
  dish: z.string(),
  minutes: z.number(),
  steps: z.array(z.object({ text: z.string() })),
});

const model = scriptedModel([
  JSON.stringify(
    {
      dish: "Pancakes",
      minutes: 20,
      steps: [{ text: "Whisk milk, eggs and flour." }, { text: "Fry one ladle at a time." }],
    },
    null,
    1,
  ),
]);
const agent = new Agent({ model, output: Recipe });

// Any field may be missing: its type is the schema's, with everything optional.
const stream = agent.stream("How do I make pancakes?");
for await (const recipe of stream.partial) {
  const last = recipe.steps?.at(-1)?.text;
  console.log(
    `${recipe.dish ?? "…"}, ${recipe.minutes ?? "…"} minutes, ${recipe.steps?.length ?? 0} steps: ${last ?? ""}`,
  );
}

const output = (await stream.result).requireOutput();
console.log(`\nChecked: ${output.dish}, ${output.steps.length} steps.`);

// A second reader shows the text itself at the same time.
const [values, raw] = new Agent({
  model: scriptedModel(['{ "dish": "Toast", "minutes": 3, "steps": [] }']),
  output: Recipe,
})
  .stream("And toast?")
  .tee();
const showText = (async () => {
  for await (const text of raw.text) process.stdout.write(text);
})();
let count = 0;
for await (const _ of values.partial) count++;
await showText;
console.log(`\n${count} partial values`);
