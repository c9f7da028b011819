// The protocol "ag-ui", with AG-UI's own schemas, verifier and client as judges.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgUiEvent, agUiEvents, type FetchHandler, nodeHandler, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { installInterop } from "../support/interop.ts";
import { agentOf, generatedRuns } from "./generated-runs.ts";
import { partner } from "./partners.ts";
import { chunksOf, collect, get, post } from "./serving.ts";

interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}
interface HttpAgent {
  messages: AgUiMessage[];
  pendingInterrupts: readonly { readonly id: string; readonly toolCallId?: string }[];
  addMessage(message: object): void;
  runAgent(parameters?: object): Promise<{ newMessages: AgUiMessage[] }>;
}
interface Client {
  HttpAgent: new (config: { url: string; threadId: string }) => HttpAgent;
  verifyEvents(): (source: unknown) => { subscribe(observer: object): void };
}
interface Rx {
  from(items: readonly unknown[]): unknown;
}

let client: Client;
let rx: Rx;
let parse: (event: unknown) => unknown;
let current: FetchHandler;
const server = createServer(
  (incoming, outgoing) => void nodeHandler((request) => current(request))(incoming, outgoing),
);
let url = "";

beforeAll(async () => {
  await installInterop("serve");
  client = await partner<Client>("@ag-ui/client");
  rx = await partner<Rx>("rxjs");
  const { EventSchemas } = await partner<{ EventSchemas: { parse(event: unknown): unknown } }>("@ag-ui/core/schemas");
  parse = (event) => EventSchemas.parse(event);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function verify(events: readonly AgUiEvent[]): Promise<void> {
  for (const event of events) parse(event);
  const source = client.verifyEvents()(rx.from(events));
  return new Promise((complete, error) => source.subscribe({ complete, error }));
}

const authorize = () => ({});
const body = (text: string) => ({
  threadId: "s",
  runId: "r",
  messages: [{ id: "1", role: "user", content: text }],
  tools: [],
  context: [],
});

test("AG-UI's schemas and verifier accept every generated run, in every mode, cut or not", async () => {
  const shows = fc.constantFrom("conversation" as const, "trace" as const, () => "name" as const);
  const property = fc.asyncProperty(generatedRuns({ waits: true }), shows, async (run, show) => {
    const store = memoryStore();
    const chat = serve({ agent: agentOf(run), store, authorize, protocol: "ag-ui", show, onError: () => undefined });
    let events = await chunksOf<AgUiEvent>(await post(chat, body("Hello")));
    await verify(events);
    while (true) {
      const end = events.at(-1);
      if (end?.type !== "RUN_FINISHED" || end.outcome.type !== "interrupt") break;
      const resume = end.outcome.interrupts.map(({ id }) => ({
        interruptId: id,
        status: "resolved",
        payload: { approved: true },
      }));
      const response = await post(chat, { ...body(""), messages: [], resume });
      await chunksOf(response, 1);
      events = await chunksOf<AgUiEvent>(await get(chat, "s/stream"));
      await verify(events);
    }
    const texts = events.filter((event) => event.type === "TEXT_MESSAGE_CONTENT" && event.subagentRunId === undefined);
    expect(texts.map((event) => ("delta" in event ? event.delta : "")).join("")).toContain(run.answer);
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", threadId: "s", outcome: { type: "success" } });
  });
  await fc.assert(property, { numRuns: 100 });
});

test("agUiEvents() projects a stream of an agent", async () => {
  const property = fc.asyncProperty(generatedRuns({ waits: false }), async (run) => {
    const events = await collect(
      agUiEvents(agentOf(run).stream("Hello"), { threadId: "t", runId: "r", show: "trace" }),
    );
    await verify(events);
    expect(events[0]).toEqual({ type: "RUN_STARTED", threadId: "t", runId: "r" });
  });
  await fc.assert(property, { numRuns: 30 });
});

test("a failed run is a RUN_ERROR with the code only", async () => {
  const agent = new Agent({ model: scriptedModel([new Error("sk-123")]) });
  const events = await collect(agUiEvents(agent.stream("Hello"), { threadId: "t" }));
  await verify(events);
  expect(events.at(-1)).toEqual({ type: "RUN_ERROR", message: "model-failed", code: "model-failed" });
});

test("HttpAgent talks, decides about a call, and goes on", async () => {
  const paid: unknown[] = [];
  const pay = tool({ name: "pay", needsApproval: true, execute: (input) => paid.push(input) });
  const script = ["Hi.", { text: "Sure. ", toolCalls: [{ name: "pay", input: { euros: 5 }, id: "c1" }] }, "Paid."];
  const agent = new Agent({ model: scriptedModel(script), tools: [pay] });
  current = serve({ agent, store: memoryStore(), authorize, protocol: "ag-ui" });
  const page = new client.HttpAgent({ url, threadId: "s" });
  page.addMessage({ id: "u1", role: "user", content: "Hello" });
  expect((await page.runAgent()).newMessages).toMatchObject([{ role: "assistant", content: "Hi." }]);
  page.addMessage({ id: "u2", role: "user", content: "Pay." });
  const { newMessages } = await page.runAgent();
  expect(newMessages[1]?.toolCalls).toMatchObject([{ id: "c1", function: { name: "pay", arguments: '{"euros":5}' } }]);
  expect(page.pendingInterrupts).toMatchObject([{ id: "c1", toolCallId: "c1", reason: "tool_call" }]);
  expect(paid).toEqual([]);
  const done = await page.runAgent({
    resume: [{ interruptId: "c1", status: "resolved", payload: { approved: true } }],
  });
  expect(paid).toEqual([{ euros: 5 }]);
  expect(done.newMessages.at(-1)).toMatchObject({ role: "assistant", content: "Paid." });
  expect(page.messages.filter(({ toolCalls }) => toolCalls?.some(({ id }) => id === "c1"))).toHaveLength(1);
});

test("an interrupt that is cancelled, or answered without approved: true, runs nothing", async () => {
  const paid: unknown[] = [];
  const pay = tool({ name: "pay", needsApproval: true, execute: (input) => paid.push(input) });
  const script = [{ toolCalls: [{ name: "pay", id: "c1" }] }, "Not paid."];
  const chat = serve({
    agent: new Agent({ model: scriptedModel(script), tools: [pay] }),
    store: memoryStore(),
    authorize,
    protocol: "ag-ui",
    onError: () => undefined,
  });
  await chunksOf(await post(chat, body("Pay.")));
  const decide = (entry: object) =>
    post(chat, { ...body(""), messages: [], resume: [{ interruptId: "c1", ...entry }] });
  expect((await decide({ status: "resolved", payload: "yes" })).status).toBe(409);
  const events = await chunksOf<AgUiEvent>(await decide({ status: "cancelled" }));
  await verify(events);
  expect(paid).toEqual([]);
});
