// A fake Anthropic messages server: how a reply looks on the wire. What it accepts is in anthropic-rules.ts.
import { anthropicRules } from "./anthropic-rules.ts";
import {
  argumentsOf,
  type Dialect,
  type FakeCall,
  type FakeProvider,
  type FakeReply,
  type FakeThought,
  type FakeTurn,
  fakeProvider,
  halves,
  type Json,
} from "./fake-provider.ts";

/** Plays the script as the Anthropic API. */
export function fakeAnthropic(script: readonly FakeTurn[]): Promise<FakeProvider> {
  const rules = anthropicRules();
  const dialect: Dialect = {
    check: (request) => rules.problem(request),
    json: (reply) => ({ ...messageHead(reply), content: said(reply), ...messageTail(reply) }),
    frames: (reply) => {
      said(reply);
      return framesOf(reply);
    },
    error: (status, message) => ({ type: "error", error: { type: errorTypes[status] ?? "api_error", message } }),
  };
  const said = (reply: FakeReply): Json[] => {
    const blocks = blocksOf(reply);
    rules.remember(blocks);
    return blocks;
  };
  return fakeProvider(script, dialect);
}

const errorTypes: Record<number, string> = {
  400: "invalid_request_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function blocksOf(reply: FakeReply): Json[] {
  return [
    ...(reply.thoughts ?? []).map(thoughtBlock),
    ...(reply.text === undefined ? [] : [{ type: "text", text: reply.text.join("") }]),
    ...(reply.extra ?? []),
    ...(reply.calls ?? []).map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: inputOf(call) })),
  ];
}

function thoughtBlock(thought: FakeThought): Json {
  return "redacted" in thought
    ? { type: "redacted_thinking", data: thought.redacted }
    : { type: "thinking", thinking: thought.text, signature: thought.signature };
}

// Only a stream can deliver broken JSON; a whole reply has a parsed object.
function inputOf(call: FakeCall): unknown {
  return call.arguments === undefined ? (call.input ?? {}) : { broken: call.arguments };
}

function messageHead(reply: FakeReply): Json {
  return { id: "msg_1", type: "message", role: "assistant", model: "claude-loopback", usage: usageOf(reply) };
}

function messageTail(reply: FakeReply): Json {
  const stop_reason = reply.finish === "length" ? "max_tokens" : reply.calls === undefined ? "end_turn" : "tool_use";
  return { stop_reason, stop_sequence: null };
}

function usageOf({ usage = { input: 10, output: 5 } }: FakeReply): Json {
  const { input, cached = 0, written = 0, output, reasoning } = usage;
  return {
    input_tokens: input - cached - written,
    output_tokens: output,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    ...(reasoning === undefined ? undefined : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function framesOf(reply: FakeReply): string[] {
  const events: Json[] = [
    { type: "message_start", message: { ...messageHead(reply), content: [], stop_reason: null, stop_sequence: null } },
    { type: "ping" },
    ...(reply.thoughts ?? []).map(thoughtEvents),
    ...(reply.text === undefined ? [] : [textEvents(reply.text)]),
    ...(reply.extra ?? []).map((content_block) => [{ type: "content_block_start", content_block }]),
    ...(reply.calls ?? []).map(callEvents),
    { type: "message_delta", delta: messageTail(reply), usage: usageOf(reply) },
    { type: "message_stop" },
  ].flatMap(numbered());
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

// A list of events is one content block, which gets the next index and a stop event.
function numbered(): (event: Json | Json[]) => Json[] {
  let index = -1;
  return (event) => {
    if (!Array.isArray(event)) return [event];
    index++;
    return [...event, { type: "content_block_stop" }].map((each) => ({ ...each, index }));
  };
}

function thoughtEvents(thought: FakeThought): Json[] {
  if ("redacted" in thought) return [{ type: "content_block_start", content_block: thoughtBlock(thought) }];
  return [
    { type: "content_block_start", content_block: { type: "thinking", thinking: "", signature: "" } },
    ...halves(thought.text).map((thinking) => delta({ type: "thinking_delta", thinking })),
    delta({ type: "signature_delta", signature: thought.signature }),
  ];
}

function textEvents(pieces: readonly string[]): Json[] {
  return [
    { type: "content_block_start", content_block: { type: "text", text: "" } },
    ...pieces.map((text) => delta({ type: "text_delta", text })),
  ];
}

function callEvents(call: FakeCall): Json[] {
  return [
    { type: "content_block_start", content_block: { type: "tool_use", id: call.id, name: call.name, input: {} } },
    ...halves(argumentsOf(call)).map((partial_json) => delta({ type: "input_json_delta", partial_json })),
  ];
}

function delta(value: Json): Json {
  return { type: "content_block_delta", delta: value };
}
