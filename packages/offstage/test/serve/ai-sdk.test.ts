// The protocol "ai-sdk", with the official reader of the AI SDK as the judge.
import fc from "fast-check";
import { expect, test } from "vitest";
import { serve, uiMessageChunks } from "../../src/doors/serve.ts";
import { memoryStore } from "../../src/index.ts";
import { agentOf, canary, generatedRuns } from "./generated-runs.ts";
import { chunksOf, collect, conversation, decided, get, post, readMessage, said, shape, textsOf } from "./serving.ts";

const authorize = () => ({});

test("the AI SDK reads every generated run, in every mode, to its answer", async () => {
  const shows = fc.constantFrom("conversation" as const, "trace" as const, () => "name" as const);
  const property = fc.asyncProperty(
    generatedRuns({ waits: true }),
    shows,
    fc.boolean(),
    async (run, show, approved) => {
      const store = memoryStore();
      const chat = serve({ agent: agentOf(run), store, authorize, show, onError: () => undefined });
      let chunks = await chunksOf(await post(chat, said("s", "Hello")));
      let message = await readMessage(chunks);
      while (message.parts.some((part) => "state" in part && part.state === "approval-requested")) {
        const before = message.parts.length;
        chunks = await chunksOf(await post(chat, decided("s", message, approved)));
        message = await readMessage(chunks, message);
        // The parts of the step that waited are not told twice.
        const ids = message.parts.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []));
        expect(new Set(ids).size).toBe(ids.length);
        expect(message.parts.length).toBeGreaterThanOrEqual(before);
      }
      expect(textsOf(message).at(-1)).toBe(run.answer);
      expect(message.parts.filter((part) => "state" in part && part.state === "input-available")).toEqual([]);
      const [asked, answer, ...others] = await conversation(chat, "s");
      expect(others).toEqual([]);
      expect(asked).toMatchObject({ role: "user", parts: [{ type: "text", text: "Hello" }] });
      expect(answer).toMatchObject({ id: message.id, role: "assistant" });
      expect(textsOf(answer).at(-1)).toBe(run.answer);
      if (show === "conversation") expect(answer.parts).toEqual([{ type: "text", text: run.answer }]);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test("uiMessageChunks() gives the same message as serve()", async () => {
  const property = fc.asyncProperty(generatedRuns({ waits: false }), async (run) => {
    const chunks = await collect(uiMessageChunks(agentOf(run).stream("Hello"), { show: "trace" }));
    const chat = serve({ agent: agentOf(run), store: memoryStore(), authorize, show: "trace" });
    const served = await readMessage(await chunksOf(await post(chat, said("s", "Hello"))));
    expect(shape(await readMessage(chunks))).toEqual(shape(served));
  });
  await fc.assert(property, { numRuns: 30 });
});

test("a client sees no byte of a tool, except of what waits for a person", async () => {
  const protocols = fc.constantFrom("ai-sdk" as const, "ag-ui" as const, "events" as const);
  const property = fc.asyncProperty(generatedRuns({ waits: true }), protocols, async (run, protocol) => {
    const store = memoryStore();
    const chat = serve({ agent: agentOf(run), store, authorize, protocol, onError: () => undefined });
    const heard: string[] = [];
    const hear = async (response: Response) => void heard.push(await response.text());
    const message = { id: "m", role: "user", content: "Hello" };
    await hear(
      await post(
        chat,
        protocol === "ag-ui" ? { threadId: "s", runId: "r", messages: [message] } : { id: "s", message },
      ),
    );
    while (true) {
      await hear(await get(chat, "s"));
      const [waiting] = await store.session("s").runs({ status: "waiting" });
      if (waiting === undefined) break;
      const approve = (await store.session("s").run(waiting.runId))?.approvals.map(({ toolCallId }) => toolCallId);
      await hear(await post(chat, { id: "s", threadId: "s", approve }));
    }
    expect(heard.join("\n")).not.toContain(canary);
    expect(run.steps.length === 0 || (await store.session("s").query()).export("json").includes(canary)).toBe(true);
    expect(heard.at(-1)).toContain(JSON.stringify(run.answer));
  });
  await fc.assert(property, { numRuns: 60 });
});
