// A fake Mistral server: OpenAI's wire format with thoughts as parts of the content. What it accepts is in mistral-rules.ts.
import { openAIDialect } from "./fake-openai.ts";
import {
  type Dialect,
  type FakeProvider,
  type FakeReply,
  type FakeTurn,
  fakeProvider,
  type Json,
} from "./fake-provider.ts";
import { mistralProblem } from "./mistral-rules.ts";

/** Plays the script as the Mistral API. */
export function fakeMistral(script: readonly FakeTurn[]): Promise<FakeProvider> {
  return fakeProvider(script, mistralDialect);
}

const mistralDialect: Dialect = {
  check: mistralProblem,
  json: (reply) => {
    const { thoughts, text = [], ...rest } = reply;
    const whole = openAIDialect.json({ ...rest, text });
    const [choice] = whole.choices as [{ message: Json }];
    if (thoughts !== undefined) choice.message.content = [...thinking(reply), { type: "text", text: text.join("") }];
    return whole;
  },
  frames: (reply) => {
    const { thoughts: _, ...rest } = reply;
    // Mistral reports usage with the finish reason, and never sends a chunk without a choice.
    const frames = (openAIDialect.frames(rest) as readonly string[]).filter((frame) => !frame.includes('"choices":[]'));
    const [first = "", ...others] = frames;
    const thoughts = thinking(reply).map((part) => {
      const chunk = JSON.parse(first.slice("data: ".length));
      chunk.choices[0].delta = { content: [part] };
      return `data: ${JSON.stringify(chunk)}\n\n`;
    });
    return [first, ...thoughts, ...others];
  },
  error: (_status, message) => ({ object: "error", message, type: "invalid_request_error", param: null, code: null }),
};

function thinking({ thoughts = [] }: FakeReply): Json[] {
  return thoughts.map((thought) => ({
    type: "thinking",
    thinking: [{ type: "text", text: "text" in thought ? thought.text : "" }],
  }));
}
