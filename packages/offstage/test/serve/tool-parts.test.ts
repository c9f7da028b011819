// What a client gets of tools beside their calls: hidden values, and progress.
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { type AgUiEvent, type ServedEvent, type Show, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { chunksOf, conversation, post, readMessage, said } from "./serving.ts";

const look = tool({
  name: "look",
  execute: (_, { progress }) => {
    progress({ percent: 50 });
    return "seen";
  },
});

function serveLook(show: Show, protocol: "ai-sdk" | "ag-ui" | "events" = "ai-sdk") {
  const model = scriptedModel([{ toolCalls: [{ name: "look", input: { far: true }, id: "c1" }] }, "Seen."]);
  return serve({
    agent: new Agent({ model, tools: [look] }),
    store: memoryStore(),
    authorize: () => ({}),
    protocol,
    show,
  });
}
const name: Show = () => "name";

test("values that are not shown are empty, and the part is the same live and after a reload", async () => {
  const partOf = ({ parts }: UIMessage) => parts.find((part) => part.type === "tool-look") as object;
  for (const [show, values] of [
    [name, { input: {}, output: null }],
    ["trace", { input: { far: true }, output: "seen" }],
  ] as const) {
    const chat = serveLook(show);
    const live = await readMessage(await chunksOf(await post(chat, said("s", "Look."))));
    const [, loaded] = await conversation(chat, "s");
    const part = { type: "tool-look", toolCallId: "c1", state: "output-available", providerExecuted: true, ...values };
    expect(JSON.parse(JSON.stringify(partOf(live)))).toEqual(part);
    expect(partOf(loaded)).toEqual(part);
  }
});

test("progress is told live if the tool is shown with everything, in every protocol, and is no part of the message", async () => {
  const data = { toolCallId: "c1", toolName: "look", value: { percent: 50 } };
  const chat = serveLook("trace");
  const chunks = await chunksOf(await post(chat, said("s", "Look.")));
  expect(chunks).toContainEqual({ type: "data-tool-progress", id: "c1", data, transient: true });
  expect(JSON.stringify(await readMessage(chunks))).not.toContain("percent");
  const agUi = { threadId: "s", runId: "r", messages: [{ id: "1", role: "user", content: "Look." }] };
  const events = await chunksOf<AgUiEvent>(await post(serveLook("trace", "ag-ui"), agUi));
  expect(events).toContainEqual({ type: "CUSTOM", name: "tool-progress", value: data });
  const own = await chunksOf<ServedEvent>(await post(serveLook("trace", "events"), { id: "s", message: "Look." }));
  expect(own).toContainEqual(expect.objectContaining({ type: "tool-progress", ...data }));
  for (const show of ["conversation", name] as const) {
    const text = await (await post(serveLook(show), said("s", "Look."))).text();
    expect(text).not.toContain("percent");
  }
});
