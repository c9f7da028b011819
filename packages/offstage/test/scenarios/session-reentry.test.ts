// Re-entry: code called by a run may not start another run on the same session, which would deadlock.
import { expect, test } from "vitest";
import type { SpanData } from "../../src/doors/tracing.ts";
import {
  Agent,
  ConversationMemory,
  InMemorySession,
  type Message,
  memoryStore,
  type Session,
  SessionBusyError,
  tool,
  withSpan,
} from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { glance } from "../support/cast.ts";

const kinds: readonly (readonly [string, () => Session])[] = [
  ["in memory", () => new InMemorySession("s")],
  ["on a store", () => memoryStore().session("s")],
];

const ask = { toolCalls: [{ name: "ask", id: "ask", input: {} }] };

/** An agent with a tool that runs another agent on `session`. */
function asking(session: Session, seen: unknown[] = []): Agent {
  const helper = new Agent({ name: "helper", model: scriptedModel(() => "Helped.") });
  const run = async () => {
    try {
      return (await helper.run("Help", { session })).text;
    } catch (error) {
      seen.push(error);
      throw error;
    }
  };
  const model = scriptedModel(({ messages }) => (messages.at(-1)?.role === "user" ? ask : "Done."));
  return new Agent({ model, tools: [tool({ name: "ask", execute: run })] });
}

test.for(kinds)(
  "a tool that runs an agent on the session of its own run is refused at once (session %s)",
  async ([, make]) => {
    const session = make();
    const seen: unknown[] = [];
    const result = await asking(session, seen).run("Go", { session });
    expect(seen).toEqual([expect.any(SessionBusyError)]);
    expect(String(result.steps[0]?.toolResults[0]?.content)).toMatch(/would deadlock.*agent\.asTool\(\)/);
    expect(glance(await session.getItems())).toEqual(["user: Go", "assistant: Done."]);
  },
);

test.for(kinds)("a tool may run an agent on another session (session %s)", async ([, make]) => {
  const session = make();
  const other = make();
  expect((await asking(other).run("Go", { session })).text).toBe("Done.");
  expect(glance(await other.getItems())).toEqual(["user: Help", "assistant: Helped."]);
});

test.for(kinds)(
  "work that a tool left in the background may use the session after the run has ended (session %s)",
  async ([, make]) => {
    const session = make();
    const helper = new Agent({ name: "helper", model: scriptedModel(() => "Helped.") });
    const gate = Promise.withResolvers<void>();
    let later: Promise<unknown> = Promise.resolve();
    const leave = tool({
      name: "ask",
      execute: () => {
        later = gate.promise.then(() => helper.run("Help", { session }));
        return "later";
      },
    });
    const model = scriptedModel(({ messages }) => (messages.at(-1)?.role === "user" ? ask : "Done."));
    await new Agent({ model, tools: [leave] }).run("Go", { session });
    gate.resolve();
    await later;
    expect(glance(await session.getItems())).toEqual([
      "user: Go",
      "assistant: Done.",
      "user: Help",
      "assistant: Helped.",
    ]);
  },
);

test.for(kinds)(
  "a memory that runs an agent on the session of its run is refused, on read and on add (session %s)",
  async ([, make]) => {
    const session = make();
    const helper = new Agent({ name: "helper", model: scriptedModel(() => "Helped.") });
    const seen: unknown[] = [];
    const ask = async () => void (await helper.run("Help", { session }).catch((error: unknown) => seen.push(error)));
    const plain = new ConversationMemory();
    const memory = {
      ...plain,
      count: 0,
      getContext: (query: string) => plain.getContext(query),
      getAllMessages: () => plain.getAllMessages(),
      clear: () => plain.clear(),
      add: async (added: Parameters<typeof plain.add>[0]) => {
        await ask();
        await plain.add(added);
      },
      getMessages: async (query: string) => {
        await ask();
        return plain.getMessages(query);
      },
    };
    const agent = new Agent({ model: scriptedModel(() => "Done."), memory });
    expect((await agent.run("Go", { session })).text).toBe("Done.");
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen.every((error) => error instanceof SessionBusyError && error.isOwn)).toBe(true);
  },
);

test("an exporter that runs an agent on the session of the exported run is refused and does not deadlock", async () => {
  const session = new InMemorySession("s");
  const helper = new Agent({ name: "helper", model: scriptedModel(() => "Helped."), tracing: false });
  let helping: Promise<unknown> | undefined;
  const exporter = {
    name: "asking",
    export: (spans: readonly SpanData[]) => {
      if (spans.some(({ kind }) => kind === "model"))
        helping ??= helper.run("Help", { session }).catch((error: unknown) => error);
    },
    flush: async () => {},
    shutdown: async () => {},
  };
  const wait = tool({
    name: "ask",
    execute: async () => {
      await helping;
      return "waited";
    },
  });
  const agent = new Agent({ model: scriptedModel([ask, "Done."]), tools: [wait], tracing: { exporters: [exporter] } });
  expect((await agent.run("Go", { session })).text).toBe("Done.");
  expect(await helping).toBeInstanceOf(SessionBusyError);
});

test("spans that a custom session creates are children of the session span around them", async () => {
  const spans: SpanData[] = [];
  const items: Message[] = [];
  const session = {
    sessionId: "s",
    getItems: () => withSpan("read", () => items),
    addItems: (added: readonly Message[]) => withSpan("write", () => void items.push(...added)),
    popItem: async () => items.pop(),
    clearSession: async () => void items.splice(0),
    getItemCount: async () => items.length,
  };
  const keep = { name: "keep", export: (ended: readonly SpanData[]) => void spans.push(...ended) };
  const exporter = { ...keep, flush: async () => {}, shutdown: async () => {} };
  const agent = new Agent({ model: scriptedModel(() => "Hi."), tracing: { exporters: [exporter] } });
  await agent.run("Go", { session });
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  const own = spans.filter(({ name }) => name === "read" || name === "write");
  expect(own.map(({ name, parentSpanId }) => `${name} in ${names.get(parentSpanId ?? "")}`)).toEqual([
    "read in session.open",
    "write in session.open",
    "write in session.end",
  ]);
});
