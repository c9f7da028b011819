// A fake server of OpenAI's Responses API: how a reply looks on the wire. What it accepts is in responses-rules.ts.
import {
  argumentsOf,
  type Dialect,
  type FakeProvider,
  type FakeReply,
  type FakeTurn,
  fakeProvider,
  halves,
  type Json,
} from "./fake-provider.ts";
import { responsesRules } from "./responses-rules.ts";

/** Plays the script as the Responses API. */
export function fakeResponses(script: readonly FakeTurn[]): Promise<FakeProvider> {
  const rules = responsesRules();
  let count = 0;
  const itemsOf = (reply: FakeReply): Json[] => {
    const items = outputOf(reply, () => `${++count}`);
    rules.remember(items);
    return items;
  };
  const dialect: Dialect = {
    check: (request) => rules.problem(request),
    json: (reply) => responseOf(reply, itemsOf(reply)),
    frames: (reply) => eventsOf(reply, itemsOf(reply)).map((event) => `data: ${JSON.stringify(event)}\n\n`),
    error: (status, message) => ({ error: { message, type: "invalid_request_error", param: null, code: `${status}` } }),
  };
  return fakeProvider(script, dialect);
}

const head = { id: "resp_1", object: "response", created_at: 1_700_000_000, model: "gpt-loopback" };

function outputOf(reply: FakeReply, next: () => string): Json[] {
  return [
    ...(reply.thoughts ?? []).map((thought) => ({
      type: "reasoning",
      id: `rs_${next()}`,
      summary: [{ type: "summary_text", text: "text" in thought ? thought.text : "" }],
    })),
    ...(reply.text === undefined
      ? []
      : [
          {
            type: "message",
            role: "assistant",
            id: `msg_${next()}`,
            content: [{ type: "output_text", text: reply.text.join(""), annotations: [] }],
          },
        ]),
    ...(reply.extra ?? []),
    ...(reply.calls ?? []).map((call) => ({
      type: "function_call",
      id: `fc_${next()}`,
      call_id: call.id,
      name: call.name,
      arguments: argumentsOf(call),
    })),
  ];
}

function responseOf({ usage = { input: 10, output: 5 }, finish }: FakeReply, output: readonly Json[]): Json {
  const { input, cached = 0, output: written, reasoning = 0 } = usage;
  return {
    ...head,
    output,
    incomplete_details: finish === "length" ? { reason: "max_output_tokens" } : null,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: written,
      output_tokens_details: { reasoning_tokens: reasoning },
    },
  };
}

function eventsOf(reply: FakeReply, items: readonly Json[]): Json[] {
  return [
    { type: "response.created", response: head },
    ...items.flatMap((item, output_index) => itemEvents(reply, item, output_index)),
    { type: "response.completed", response: responseOf(reply, items) },
  ];
}

function itemEvents(reply: FakeReply, item: Json, output_index: number): Json[] {
  const { id: item_id } = item;
  const bare = item.type === "function_call" ? { ...item, arguments: "" } : item;
  return [
    { type: "response.output_item.added", output_index, item: bare },
    ...deltasOf(reply, item).map((delta): Json => ({ ...delta, item_id, output_index })),
    { type: "response.output_item.done", output_index, item: { ...item, status: "completed" } },
  ];
}

function deltasOf(reply: FakeReply, item: Json): Json[] {
  if (item.type === "message")
    return (reply.text ?? []).map((delta) => ({ type: "response.output_text.delta", delta }));
  if (item.type === "function_call")
    return halves(String(item.arguments)).map((delta) => ({ type: "response.function_call_arguments.delta", delta }));
  if (item.type !== "reasoning") return [];
  const [{ text = "" } = {}] = item.summary as { text?: string }[];
  const part = { summary_index: 0 };
  return [
    { type: "response.reasoning_summary_part.added", ...part },
    ...halves(text).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...part, delta })),
    { type: "response.reasoning_summary_part.done", ...part },
  ];
}
