// How a run ended that did not complete: told to the client live, and after a reload.
import { expect, test } from "vitest";
import { type AgUiEvent, type ServedEvent, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { chunksOf, conversation, get, post, readMessage, said, textsOf } from "./serving.ts";

const look = tool({ name: "look", execute: () => "seen" });

type Options = Partial<Parameters<typeof serve>[0]>;

function serveLimited(options: Options = {}, script: Parameters<typeof scriptedModel>[0] = endless) {
  const agent = new Agent({ model: scriptedModel(script), tools: [look], maxSteps: 1 });
  return serve({ agent, store: memoryStore(), authorize: () => ({}), onError: () => undefined, ...options });
}
const endless = () => ({ toolCalls: [{ name: "look" }] });

const stopped = { status: "stopped", reason: "step-limit" };

test("a run that a limit stopped says so in the message, live and after a reload", async () => {
  const chat = serveLimited();
  const live = await readMessage(await chunksOf(await post(chat, said("s", "Look."))));
  expect(live.metadata).toEqual(stopped);
  const [asked, loaded, ...others] = await conversation(chat, "s");
  expect(asked.role).toBe("user");
  expect(loaded).toEqual({ id: live.id, role: "assistant", parts: [], metadata: stopped });
  expect(others).toEqual([]);
});

test("its tools are still there after a reload if they are shown", async () => {
  const chat = serveLimited({ show: "trace" });
  const live = await readMessage(await chunksOf(await post(chat, said("s", "Look."))));
  const [, loaded] = await conversation(chat, "s");
  const states = ({ parts }: typeof live) => parts.flatMap((part) => ("state" in part ? [part.state] : []));
  expect(states(loaded)).toEqual(["output-available"]);
  expect(states(loaded)).toEqual(states(live));
  expect(loaded.metadata).toEqual(live.metadata);
});

test("a run that failed says its code, live and after a reload, and no sentence", async () => {
  const chat = serveLimited({}, [new Error("the key sk-123 is wrong")]);
  const response = await post(chat, said("s", "Hello."));
  const chunks = await chunksOf(response);
  const failed = { status: "failed", reason: "model-failed" };
  expect(chunks.at(-1)).toEqual({ type: "finish", finishReason: "error", messageMetadata: failed });
  const [, loaded] = await conversation(chat, "s");
  expect(loaded).toMatchObject({ role: "assistant", parts: [], metadata: failed });
});

test("the next answer is an answer of its own", async () => {
  const chat = serveLimited({}, [{ toolCalls: [{ name: "look" }] }, "Hi."]);
  await chunksOf(await post(chat, said("s", "Look.")));
  await chunksOf(await post(chat, said("s", "Hello.")));
  const messages = await conversation(chat, "s");
  expect(messages.map(({ role, metadata }) => [role, metadata])).toEqual([
    ["user", undefined],
    ["assistant", stopped],
    ["user", undefined],
    ["assistant", undefined],
  ]);
  expect(textsOf(messages[3] as (typeof messages)[0])).toEqual(["Hi."]);
});

test("AG-UI has the ending as the result of the run, and in the message", async () => {
  const chat = serveLimited({ protocol: "ag-ui" });
  const body = { threadId: "s", runId: "r", messages: [{ id: "1", role: "user", content: "Look." }] };
  const events = await chunksOf<AgUiEvent>(await post(chat, body));
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" }, result: stopped });
  const messages = (await (await get(chat, "s")).json()) as object[];
  expect(messages[1]).toMatchObject({ role: "assistant", content: "", metadata: stopped });
});

test("our own events have it in the last event, and in the message", async () => {
  const chat = serveLimited({ protocol: "events" });
  const events = await chunksOf<ServedEvent>(await post(chat, { id: "s", message: "Look." }));
  expect(events.at(-1)).toMatchObject({ type: "run-end", ...stopped });
  expect((await conversation(chat, "s"))[1].metadata).toEqual(stopped);
});
