// Connections that are cut: a run goes on without its client, and can be read again from the start.
import type { UIMessage } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type FetchHandler, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { agentOf, type GeneratedRun, generatedRuns } from "./generated-runs.ts";
import { chunksOf, decided, get, post, readMessage, said, shape, textsOf } from "./serving.ts";

const authorize = () => ({});
const isWaiting = (message: UIMessage) =>
  message.parts.some((part) => "state" in part && part.state === "approval-requested");

/** Plays a run to its end. Each of its streams is cut after `cut` chunks, and read again. */
async function play(run: GeneratedRun, show: "conversation" | "trace", cut: number): Promise<UIMessage> {
  const chat = serve({ agent: agentOf(run), store: memoryStore(), authorize, show, onError: () => undefined });
  let message = await readCut(chat, await post(chat, said("s", "Hello")), cut);
  while (isWaiting(message)) message = await readCut(chat, await post(chat, decided("s", message, true)), cut, message);
  return message;
}

async function readCut(chat: FetchHandler, response: Response, cut: number, before?: UIMessage): Promise<UIMessage> {
  const chunks = await chunksOf(response, cut);
  if (chunks.at(-1)?.type === "finish") return readMessage(chunks, before);
  const again = await get(chat, "s/stream");
  expect(again.status).toBe(200);
  return readMessage(await chunksOf(again));
}

test("a connection that is cut at any chunk resumes to the same final message", async () => {
  const shows = fc.constantFrom("conversation" as const, "trace" as const);
  const property = fc.asyncProperty(generatedRuns({ waits: true }), shows, async (run, show) => {
    const whole = await play(run, show, Number.POSITIVE_INFINITY);
    const longest = 8 + 6 * run.steps.length * 3;
    for (let cut = 0; cut < longest; cut++) {
      const message = await play(run, show, cut);
      expect(ownTexts(message)).toEqual(ownTexts(whole));
      if (show === "trace") expect(partsOf(message)).toEqual(partsOf(whole));
    }
  });
  await fc.assert(property, { numRuns: 8 });
});

function ownTexts({ parts }: UIMessage): string[] {
  return parts.flatMap((part) => (part.type === "text" && part.providerMetadata === undefined ? [part.text] : []));
}

// Subagents that worked at the same time are told one after another. A call that was decided is told without its approval.
function partsOf({ parts }: UIMessage): string[] {
  const texts = parts.map((part) => JSON.stringify(shape({ ...part, approval: undefined })));
  return texts.sort();
}

test("a run goes on without its client, and several clients can read it from the start", async () => {
  const gate = Promise.withResolvers<void>();
  const wait = tool({ name: "wait", execute: () => gate.promise });
  const model = scriptedModel([{ text: "A moment. ", toolCalls: [{ name: "wait" }] }, "Here you are."]);
  const chat = serve({ agent: new Agent({ model, tools: [wait] }), store: memoryStore(), authorize });
  const first = await chunksOf(await post(chat, said("s", "Hello")), 2);
  expect(first.map(({ type }) => type)).toEqual(["start", "start-step"]);
  const others = await Promise.all([get(chat, "s/stream"), get(chat, "s/stream")]);
  gate.resolve();
  for (const response of others) {
    const message = await readMessage(await chunksOf(response));
    expect(textsOf(message)).toEqual(["A moment. ", "Here you are."]);
  }
  expect((await get(chat, "s/stream")).status).toBe(204);
});

test("after the end was read, and for a session without a run, there is nothing to resume", async () => {
  const chat = serve({ agent: new Agent({ model: scriptedModel(["Hi."]) }), store: memoryStore(), authorize });
  expect((await get(chat, "s/stream")).status).toBe(204);
  await chunksOf(await post(chat, said("s", "Hello")));
  const none = await get(chat, "s/stream");
  expect([none.status, await none.text()]).toEqual([204, ""]);
});

test("a slow reader gets larger deltas, and no more memory is used for it", async () => {
  const text = "word ".repeat(20_000);
  const chat = serve({ agent: new Agent({ model: scriptedModel([text]) }), store: memoryStore(), authorize });
  const response = await post(chat, said("s", "Hello"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const chunks = await chunksOf(response);
  expect(chunks.length).toBeLessThan(300);
  expect(textsOf(await readMessage(chunks))).toEqual([text]);
});

test("steps that were dropped from memory are read from the record, and a reader too far behind is cut", async () => {
  const big = tool({ name: "big", execute: () => "x".repeat(60_000) });
  const steps = Array.from({ length: 30 }, (_, step) => ({ text: `step ${step}. `, toolCalls: [{ name: "big" }] }));
  const gate = Promise.withResolvers<string>();
  const model = scriptedModel([...steps, () => gate.promise]);
  const agent = new Agent({ model, tools: [big], maxSteps: 50 });
  const chat = serve({ agent, store: memoryStore(), authorize, show: "trace" });
  const behind = (await post(chat, said("s", "Hello"))).body?.getReader();
  await behind?.read();
  await expect.poll(() => model.requests.length).toBe(31);
  await expect(behind?.read()).rejects.toThrow("too far behind");
  const late = await get(chat, "s/stream");
  gate.resolve("Done.");
  const message = await readMessage(await chunksOf(late));
  expect(textsOf(message)).toEqual([...steps.map(({ text }) => text), "Done."]);
  expect(message.parts.filter((part) => part.type === "tool-big").length).toBe(30);
});
