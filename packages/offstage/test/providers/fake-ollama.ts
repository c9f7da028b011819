// A fake Ollama server: one JSON object per line. What it accepts is in ollama-rules.ts.
import {
  type Dialect,
  type FakeProvider,
  type FakeReply,
  type FakeTurn,
  fakeProvider,
  type Json,
} from "./fake-provider.ts";
import { ollamaProblem } from "./ollama-rules.ts";

/** Plays the script as an Ollama server. */
export function fakeOllama(script: readonly FakeTurn[]): Promise<FakeProvider> {
  return fakeProvider(script, ollamaDialect);
}

const head = { model: "loopback", created_at: "2026-01-01T00:00:00.000Z" };

const ollamaDialect: Dialect = {
  check: ollamaProblem,
  json: (reply) => ({ ...head, message: messageOf(reply), ...ending(reply) }),
  frames: (reply) => {
    const pieces: FakeReply[] = [
      ...(reply.thoughts ?? []).map((thought) => ({ thoughts: [thought] })),
      ...(reply.text ?? []).map((text) => ({ text: [text] })),
      ...(reply.calls === undefined ? [] : [{ calls: reply.calls }]),
    ];
    const lines = pieces.map((piece) => ({ ...head, message: messageOf(piece), done: false }));
    return [...lines, { ...head, message: messageOf({}), ...ending(reply) }].map((line) => `${JSON.stringify(line)}\n`);
  },
  error: (_status, message) => ({ error: message }),
  // Ollama streams unless it is told not to.
  streams: ({ body }) => body.stream !== false,
  streamType: "application/x-ndjson",
};

function messageOf({ thoughts, text = [], calls }: FakeReply): Json {
  return {
    role: "assistant",
    content: text.join(""),
    ...(thoughts !== undefined && { thinking: thoughts.map((each) => ("text" in each ? each.text : "")).join("") }),
    ...(calls !== undefined && {
      tool_calls: calls.map(({ id, name, input = {} }) => ({ id, function: { name, arguments: input } })),
    }),
  };
}

function ending({ usage = { input: 10, output: 5 }, finish = "stop" }: FakeReply): Json {
  return {
    done: true,
    done_reason: finish,
    total_duration: 1,
    load_duration: 1,
    prompt_eval_count: usage.input,
    prompt_eval_duration: 1,
    eval_count: usage.output,
    eval_duration: 1,
  };
}
