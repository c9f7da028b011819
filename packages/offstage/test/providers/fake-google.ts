// A fake Gemini server: how a reply looks on the wire. What it accepts is in google-rules.ts.
import {
  type Dialect,
  type FakeProvider,
  type FakeReply,
  type FakeTurn,
  fakeProvider,
  type Json,
} from "./fake-provider.ts";
import { googleProblem } from "./google-rules.ts";

/** Plays the script as the Gemini API. */
export function fakeGoogle(script: readonly FakeTurn[]): Promise<FakeProvider> {
  return fakeProvider(script, googleDialect);
}

const googleDialect: Dialect = {
  check: googleProblem,
  json: (reply) => chunk(reply, partsOf(reply), true),
  frames: (reply) => {
    const parts = partsOf(reply);
    return [...parts.map((part) => chunk(reply, [part], false)), chunk(reply, [], true)].map(
      (value) => `data: ${JSON.stringify(value)}\n\n`,
    );
  },
  error: (code, message) => ({
    error: { code, message, status: code === 429 ? "RESOURCE_EXHAUSTED" : "INVALID_ARGUMENT" },
  }),
  streams: ({ path = "" }) => path.includes(":streamGenerateContent"),
};

function partsOf(reply: FakeReply): Json[] {
  return [
    ...(reply.thoughts ?? []).map((thought) => ({ text: "text" in thought ? thought.text : "", thought: true })),
    ...(reply.text ?? []).map((text) => ({ text })),
    ...(reply.calls ?? []).map(({ id, name, input = {}, signature }) => ({
      functionCall: { id, name, args: input },
      ...(signature !== undefined && { thoughtSignature: signature }),
    })),
  ];
}

function chunk({ usage = { input: 10, output: 5 }, finish }: FakeReply, parts: readonly Json[], isLast: boolean): Json {
  const finishReason = finish === "length" ? "MAX_TOKENS" : "STOP";
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...(isLast && { finishReason }) }],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: "gemini-loopback",
  };
}
