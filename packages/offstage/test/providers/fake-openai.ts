// A fake OpenAI chat-completions server: how a reply looks on the wire. What it accepts is in openai-rules.ts.
import {
  argumentsOf,
  type Dialect,
  type FakeCall,
  type FakeProvider,
  type FakeReply,
  type FakeTurn,
  fakeProvider,
  halves,
  type Json,
} from "./fake-provider.ts";
import { openAIProblem } from "./openai-rules.ts";

/** Plays the script as an OpenAI-compatible server. */
export function fakeOpenAI(script: readonly FakeTurn[]): Promise<FakeProvider> {
  return fakeProvider(script, openAIDialect);
}

/** Plays the script as OpenRouter, which names the tool of a result, fetches files and has other fields for reasoning. */
export function fakeOpenRouter(script: readonly FakeTurn[]): Promise<FakeProvider> {
  const renamed = <Reply>(reply: Reply): Reply =>
    JSON.parse(JSON.stringify(reply).replaceAll("reasoning_content", "reasoning"));
  return fakeProvider(script, {
    ...openAIDialect,
    check: (request) => openAIProblem({ ...request, body: withoutOwnFields(request.body) }),
    json: (reply) => renamed(openAIDialect.json(reply)),
    frames: (reply) => renamed(openAIDialect.frames(reply)),
  });
}

function withoutOwnFields(body: Json): Json {
  const messages = (body.messages as readonly Json[]).map(({ reasoning: _, reasoning_details: __, ...sent }) => {
    const { cache_control: ____, ...message } = sent;
    const { name: ___, ...rest } = message;
    if (message.role === "tool") return rest;
    return Array.isArray(message.content) ? { ...message, content: message.content.filter(isNotAtUrl) } : message;
  });
  return { ...body, messages };
}

function isNotAtUrl({ file }: Json): boolean {
  return !/^https?:/.test(String((file as Json | undefined)?.file_data));
}

const head = { id: "chatcmpl-1", created: 1_700_000_000, model: "loopback-model-2026" };

export const openAIDialect: Dialect = {
  check: openAIProblem,
  json: (reply) => ({
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message: messageOf(reply), finish_reason: finishOf(reply) }],
    usage: usageOf(reply),
  }),
  frames: (reply) => [...chunksOf(reply).map(frameOf), "data: [DONE]\n\n"],
  error: (status, message) => ({ error: { message, type: "invalid_request_error", param: null, code: `${status}` } }),
};

function messageOf(reply: FakeReply): Json {
  const calls = (reply.calls ?? []).map(wireCall);
  return {
    role: "assistant",
    content: reply.text?.join("") ?? null,
    ...(reply.thoughts === undefined ? undefined : { reasoning_content: thoughtsOf(reply).join("") }),
    ...(calls.length === 0 ? undefined : { tool_calls: calls }),
  };
}

function chunksOf(reply: FakeReply): Json[] {
  const deltas: Json[] = [
    { role: "assistant", content: "" },
    ...thoughtsOf(reply).map((text) => ({ reasoning_content: text })),
    ...(reply.text ?? []).map((text) => ({ content: text })),
    ...(reply.calls ?? []).flatMap(callDeltas),
  ];
  return [
    ...deltas.map((delta) => chunk({ delta, finish_reason: null })),
    chunk({ delta: {}, finish_reason: finishOf(reply) }),
    { ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(reply) },
  ];
}

function chunk(choice: Json): Json {
  return { ...head, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] };
}

function frameOf(value: Json): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function thoughtsOf(reply: FakeReply): string[] {
  return (reply.thoughts ?? []).map((thought) => ("text" in thought ? thought.text : ""));
}

function wireCall(call: FakeCall): Json {
  const { id, name, signature } = call;
  const extra = signature === undefined ? undefined : { extra_content: { google: { thought_signature: signature } } };
  return { id, type: "function", function: { name, arguments: argumentsOf(call) }, ...extra };
}

function callDeltas(call: FakeCall, index: number): Json[] {
  const first = { ...wireCall({ ...call, arguments: "" }), index };
  const rest = halves(argumentsOf(call)).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] }));
  return [{ tool_calls: [first] }, ...rest];
}

function finishOf(reply: FakeReply): string {
  return reply.finish ?? (reply.calls === undefined ? "stop" : "tool_calls");
}

function usageOf({ usage = { input: 10, output: 5 } }: FakeReply): Json {
  const { input, cached, output, reasoning } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached === undefined ? undefined : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? undefined : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
