// Tools that a provider runs itself, with the real packages: passed on as they are, their calls parts of the reply and never tool calls.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { allProviders, type TestedProvider } from "./all-providers.ts";
import type { FakeReply, Json } from "./fake-provider.ts";
import { facesOf, loopback } from "./loopback-agents.ts";

const openai = createOpenAI({ apiKey: "key" });
const anthropic = createAnthropic({ apiKey: "key" });
const provider = (name: string) => allProviders.find((each) => each.name === name) as TestedProvider;
const book = tool({ name: "book", execute: () => "booked" });

interface Hosted extends TestedProvider {
  readonly tool: NonNullable<Exclude<AgentOptions["tools"], (...given: never[]) => unknown>>[number];
  readonly sent: Json;
  readonly extra: readonly Json[];
  /** How the search is sent back to the provider. */
  readonly replayed: Json;
}

const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "shows" } };
const found = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [
    { type: "web_search_result", url: "https://a.example", title: "A", encrypted_content: "secret", page_age: null },
  ],
};

const hosted: readonly Hosted[] = [
  {
    ...provider("OpenAI, responses"),
    tool: openai.tools.webSearch({ searchContextSize: "low" }),
    sent: { type: "web_search", search_context_size: "low" },
    extra: [
      {
        type: "web_search_call",
        id: "ws_1",
        status: "completed",
        action: { type: "search", query: "shows", sources: [] },
      },
    ],
    replayed: { type: "item_reference", id: "ws_1" },
  },
  {
    ...provider("Anthropic"),
    tool: anthropic.tools.webSearch_20250305({ maxUses: 2 }),
    sent: { type: "web_search_20250305", name: "web_search", max_uses: 2 },
    extra: [search, found],
    replayed: search,
  },
];

describe.each(hosted)("$name", ({ tool: webSearch, sent, extra, replayed, ...tested }) => {
  test.each(facesOf(tested))("a search of the provider is passed on and sent back ($face)", async ({ play }) => {
    const replies: FakeReply[] = [
      { extra, calls: [{ id: "book00001", name: "book", input: {} }] },
      { text: ["Booked."] },
    ];
    const store = memoryStore();
    await using at = await loopback(tested, replies, { tools: [webSearch, book], modelSettings: {} });
    const { result, events } = await play(at.agent, "Find a show and book it.", { session: store.session("s") });
    const [first, second] = at.server.requests.map(({ body }) => body);
    expect(first?.tools).toContainEqual(expect.objectContaining(sent));
    expect(JSON.stringify(second)).toContain(JSON.stringify(replayed).slice(1, -1));
    expect(result.text).toBe("Booked.");
    // The only call is our own: no event, result, message or row calls the search a tool call.
    expect(result.steps.map(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName))).toEqual([["book"], []]);
    expect(events.flatMap((event) => (event.type === "tool-start" ? [event.toolName] : []))).not.toContain(
      "web_search",
    );
    const query = await store.query({ session: "s" });
    expect(query.toolSummary().map(({ toolName }) => toolName)).toEqual(["book"]);
    expect(result.steps[0]?.messages[0]?.metadata?.providerParts).toContainEqual(
      expect.objectContaining({ type: "tool-call", providerExecuted: true }),
    );
    const input = await store.runs.input(result.runId, 1);
    expect(input?.tools).toContainEqual(
      expect.objectContaining({ type: "provider", name: expect.stringMatching(/^web_search/) }),
    );
  });
});

test("a resumed run sends the search back, too", async () => {
  const [, tested] = hosted as readonly [Hosted, Hosted];
  const { tool: webSearch, extra, replayed } = tested;
  const store = memoryStore();
  const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
  const replies: FakeReply[] = [{ extra, calls: [{ id: "pay000001", name: "pay", input: {} }] }, { text: ["Paid."] }];
  await using at = await loopback(tested, replies, { tools: [webSearch, pay], modelSettings: {} });
  const { runId, approvals } = await at.agent.run("Pay.", { session: store.session("s") });
  await at.agent.resume(runId, { store, approve: approvals });
  expect(JSON.stringify(at.server.requests[1]?.body)).toContain(JSON.stringify(replayed).slice(1, -1));
});

test("a hosted tool may be written out, and functions may return it", async () => {
  const model = scriptedModel(["Found."]);
  const written = { type: "provider", id: "openai.web_search", name: "search", args: { size: "low" } } as const;
  await new Agent({ model, tools: () => [written] }).run("Search.");
  expect(model.requests[0]?.options.tools).toEqual([written]);
});

test("secrets in its arguments reach the provider and not the record", async () => {
  const store = memoryStore();
  const model = scriptedModel(["Found."]);
  const mcp = openai.tools.mcp({
    serverLabel: "docs",
    serverUrl: "https://docs.example",
    authorization: "canary",
    headers: { cookie: "canary" },
  });
  const { runId } = await new Agent({ model, tools: [mcp] }).run("Search.", { session: store.session("s") });
  expect(JSON.stringify(model.requests[0]?.options.tools)).toContain("canary");
  const input = await store.runs.input(runId, 1);
  expect(input?.tools).toHaveLength(1);
  expect(JSON.stringify(input)).not.toContain("canary");
});

test.each([
  [[{ type: "provider", id: "search" }], 'A provider\'s tool needs an id such as "openai.web_search"; found "search".'],
  [[{ type: "provider", id: "a.b", args: 5 }], '"args" of the provider\'s tool "a.b" must be an object; found 5.'],
  [[{ type: "provider", id: "a.book" }, book], 'Two tools have the name "book". Rename one of them.'],
])("an unfit hosted tool is refused (%#)", (tools, sentence) => {
  const make = () => new Agent({ model: scriptedModel([]), tools: tools as never });
  expect(make).toThrow(expect.objectContaining({ code: "invalid-tool" }));
  expect(make).toThrow(sentence);
});

test("a call of a hosted tool that the provider leaves to us is answered, not run", async () => {
  const model = scriptedModel([{ toolCalls: [{ name: "web_search", input: {} }] }, "Sorry."]);
  const { steps } = await new Agent({ model, tools: [{ type: "provider", id: "openai.web_search" }] }).run("Search.");
  expect(steps[0]?.toolResults[0]?.isError).toBe(true);
});
