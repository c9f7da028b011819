// A fake Bedrock server: how a reply looks on the wire, in AWS's binary event stream. What it accepts is in bedrock-rules.ts.
import { crc32 } from "node:zlib";
import { bedrockProblem } from "./bedrock-rules.ts";
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

/** Plays the script as the Converse API of Bedrock. */
export function fakeBedrock(script: readonly FakeTurn[]): Promise<FakeProvider> {
  return fakeProvider(script, bedrockDialect);
}

const bedrockDialect: Dialect = {
  check: bedrockProblem,
  json: (reply) => ({
    output: { message: { role: "assistant", content: blocksOf(reply) } },
    stopReason: stopOf(reply),
    usage: usageOf(reply),
  }),
  frames: (reply) => eventsOf(reply).map(([type, payload]) => frameOf(type, payload)),
  error: (_status, message) => ({ message }),
  streams: ({ path = "" }) => path.endsWith("/converse-stream"),
  streamType: "application/vnd.amazon.eventstream",
};

function blocksOf(reply: FakeReply): Json[] {
  return [
    ...(reply.thoughts ?? []).map((thought) => ({
      reasoningContent:
        "text" in thought ? { reasoningText: thought } : { redactedReasoning: { data: thought.redacted } },
    })),
    ...(reply.text === undefined ? [] : [{ text: reply.text.join("") }]),
    ...(reply.calls ?? []).map(({ id, name, input = {} }) => ({ toolUse: { toolUseId: id, name, input } })),
  ];
}

type Event = readonly [type: string, payload: Json];

function eventsOf(reply: FakeReply): Event[] {
  const blocks: Json[][] = [
    ...(reply.thoughts ?? []).map((thought) =>
      "text" in thought
        ? [{ reasoningContent: { text: thought.text } }, { reasoningContent: { signature: thought.signature } }]
        : [{ reasoningContent: { data: thought.redacted } }],
    ),
    ...(reply.text === undefined ? [] : [reply.text.map((text) => ({ text }))]),
    ...(reply.calls ?? []).map((call) => [
      { start: { toolUse: { toolUseId: call.id, name: call.name } } },
      ...halves(argumentsOf(call)).map((input) => ({ toolUse: { input } })),
    ]),
  ];
  return [
    ["messageStart", { role: "assistant" }],
    ...blocks.flatMap((block, contentBlockIndex) => [...blockEvents(block, contentBlockIndex)]),
    ["messageStop", { stopReason: stopOf(reply) }],
    ["metadata", { usage: usageOf(reply), metrics: { latencyMs: 1 } }],
  ];
}

function* blockEvents(block: readonly Json[], contentBlockIndex: number): Generator<Event> {
  for (const part of block) {
    if ("start" in part) yield ["contentBlockStart", { contentBlockIndex, ...part }];
    else yield ["contentBlockDelta", { contentBlockIndex, delta: part }];
  }
  yield ["contentBlockStop", { contentBlockIndex }];
}

function stopOf({ finish, calls }: FakeReply): string {
  if (finish === "length") return "max_tokens";
  return calls === undefined ? "end_turn" : "tool_use";
}

function usageOf({ usage = { input: 10, output: 5 } }: FakeReply): Json {
  const { input, output } = usage;
  return { inputTokens: input, outputTokens: output, totalTokens: input + output };
}

// A frame: both lengths, their checksum, headers, payload, and the checksum of all of it.
function frameOf(type: string, payload: Json): Buffer {
  const headers = Buffer.concat(
    Object.entries({ ":event-type": type, ":content-type": "application/json", ":message-type": "event" }).map(
      headerOf,
    ),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(headers.length + body.length + 16, 0);
  lengths.writeUInt32BE(headers.length, 4);
  const whole = Buffer.concat([lengths, checksum(lengths), headers, body]);
  return Buffer.concat([whole, checksum(whole)]);
}

function headerOf([name, value]: readonly [string, string]): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(value.length);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), size, Buffer.from(value)]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
