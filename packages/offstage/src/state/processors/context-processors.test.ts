// The processors that put something ahead of the conversation.
import { describe, expect, test } from "vitest";
import { buildState, buildStep } from "../../../test/support/build-state.ts";
import { system, user } from "../../messages/makers.ts";
import { AgentState } from "../agent-state.ts";
import { chain, type Processor } from "../processor.ts";
import { appendContextMetadata, applyCachedContext } from "./index.ts";

const through = (state: AgentState, ...processors: readonly Processor[]): Promise<AgentState> =>
  chain(processors, async (inner) => inner.withStep(buildStep(), {}))(state);
const stored = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
const texts = (state: AgentState): unknown[] => state.messagesForInference().map((message) => message.content);

describe("appendContextMetadata", () => {
  const shown = 'Context of this conversation:\n{\n  "user": "Ada"\n}';
  const known = buildState().withMetadata("user", "Ada");

  test("shows the metadata as one user message before the conversation", async () => {
    const state = await through(known, appendContextMetadata);
    expect(state.messagesForInference().toArray()).toMatchObject([
      { role: "user", content: shown },
      { role: "user", content: "hi" },
    ]);
  });

  test("does not change the conversation itself", async () => {
    expect((await through(known, appendContextMetadata)).messages.toArray()).toEqual([user("hi")]);
  });

  test("shows it once, after any number of steps, and as the same object", async () => {
    const first = await through(known, appendContextMetadata);
    const second = await through(first, appendContextMetadata);
    expect(second.section("buffer")).toBe(first.section("buffer"));
  });

  test("shows it once after the state was stored and read", async () => {
    const state = await through(stored(await through(known, appendContextMetadata)), appendContextMetadata);
    expect(texts(state)).toEqual([shown, "hi"]);
  });

  test("rewrites it when the metadata changes", async () => {
    const first = await through(known, appendContextMetadata);
    const state = await through(first.withMetadata("user", "Grace"), appendContextMetadata);
    expect(texts(state)).toEqual([shown.replace("Ada", "Grace"), "hi"]);
  });

  test("keeps the other messages of the buffer", async () => {
    const state = await through(known.withSection("buffer", [system("earlier")]), appendContextMetadata);
    expect(texts(state)).toEqual(["earlier", shown, "hi"]);
  });

  test("changes nothing without metadata", async () => {
    expect((await through(buildState(), appendContextMetadata)).store.names).toEqual(["messages"]);
  });
});

describe("applyCachedContext", () => {
  const context = [system("the handbook"), system("the style guide")];
  const cached = applyCachedContext(context);

  test("puts the messages before the conversation, in order", async () => {
    expect(texts(await through(buildState(), cached))).toEqual(["the handbook", "the style guide", "hi"]);
  });

  test("puts them there once, after any number of steps, and as the same object", async () => {
    const first = await through(buildState(), cached);
    const second = await through(first, cached);
    expect(second.section("buffer")).toBe(first.section("buffer"));
  });

  test("puts them there once after the state was stored and read by another process", async () => {
    const read = stored(await through(buildState(), cached));
    const state = await through(read.withUserMessage("more"), applyCachedContext([...context]));
    expect(texts(state)).toEqual(["the handbook", "the style guide", "hi", "more"]);
  });

  test("replaces an earlier cached context", async () => {
    const state = await through(await through(buildState(), cached), applyCachedContext([system("the new handbook")]));
    expect(texts(state)).toEqual(["the new handbook", "hi"]);
  });

  test("puts them before the other messages of the buffer", async () => {
    const state = await through(buildState().withSection("buffer", [system("earlier")]), cached);
    expect(texts(state)).toEqual(["the handbook", "the style guide", "earlier", "hi"]);
  });

  test("changes nothing with an empty list", async () => {
    expect((await through(buildState(), applyCachedContext([]))).store.names).toEqual(["messages"]);
  });

  test("works beside appendContextMetadata, in either order", async () => {
    const orders = [
      [cached, appendContextMetadata],
      [appendContextMetadata, cached],
    ];
    for (const processors of orders) {
      const first = await through(buildState().withMetadata("a", 1), ...processors);
      const second = await through(first, ...processors);
      expect(second.section("buffer")).toBe(first.section("buffer"));
      expect(second.section("buffer").length).toBe(3);
    }
  });
});
