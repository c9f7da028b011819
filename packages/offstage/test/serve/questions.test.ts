// Questions of tools, and approvals with changes, over HTTP.
import { expect, test, vi } from "vitest";
import * as z from "zod";
import { type AgUiEvent, serve } from "../../src/doors/serve.ts";
import { Agent, memoryStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { chunksOf, conversation, post, readMessage, said, textsOf } from "./serving.ts";

const booked: unknown[] = [];
const book = tool({
  name: "book",
  execute: async (_, { ask }) => {
    const answer = await ask({ message: "Which seat?", schema: z.object({ seat: z.string() }) });
    booked.push(answer);
    return "OFFSTAGE booked";
  },
});

function serveBooking(protocol: "ai-sdk" | "ag-ui" = "ai-sdk", onError: () => void = () => undefined) {
  booked.length = 0;
  const model = scriptedModel([{ toolCalls: [{ name: "book", input: { film: "Alien" }, id: "c1" }] }, "Booked."]);
  const agent = new Agent({ model, tools: [book] });
  return serve({ agent, store: memoryStore(), authorize: () => ({}), protocol, onError });
}

test("a question is a part with its message and schema, and the output that a client adds is the answer", async () => {
  const chat = serveBooking();
  const message = await readMessage(await chunksOf(await post(chat, said("s", "Book."))));
  const [, loaded] = await conversation(chat, "s");
  for (const { parts } of [message, loaded])
    expect(parts.at(-1)).toMatchObject({
      type: "tool-book",
      state: "approval-requested",
      input: { film: "Alien" },
      approval: { id: "c1", descriptor: { kind: "question", message: "Which seat?", schema: { type: "object" } } },
    });
  const part = { ...message.parts.at(-1), state: "output-available", output: { seat: "12A" } };
  const response = await post(chat, { id: "s", messages: [{ ...message, parts: [part] }], messageId: message.id });
  const text = await response.text();
  expect(booked).toEqual([{ seat: "12A" }]);
  expect(text).toContain("Booked.");
  expect(text).not.toContain("OFFSTAGE");
});

test("an answer that does not fit, or an approval without an answer, changes nothing", async () => {
  const chat = serveBooking();
  await chunksOf(await post(chat, said("s", "Book.")));
  const refused = await post(chat, { id: "s", answers: [{ toolCallId: "c1", value: { seat: 12 } }] });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toEqual({
    error: { code: "invalid-argument", message: expect.stringContaining("seat") as unknown },
  });
  expect((await post(chat, { id: "s", approve: ["c1"] })).status).toBe(409);
  expect((await post(chat, { id: "s", answers: [{ toolCallId: "c1" }] })).status).toBe(400);
  expect(booked).toEqual([]);
  const chunks = await chunksOf(await post(chat, { id: "s", answers: [{ toolCallId: "c1", value: { seat: "1" } }] }));
  expect(textsOf(await readMessage(chunks))).toEqual(["Booked."]);
});

test("a wrong answer, or a change that does not fit, is reported once, with the session", async () => {
  const onError = vi.fn();
  const asking = serveBooking("ai-sdk", onError);
  await chunksOf(await post(asking, said("s", "Book.")));
  await post(asking, { id: "s", answers: [{ toolCallId: "c1", value: { seat: 12 } }] });
  expect(onError).toHaveBeenCalledOnce();
  expect(onError).toHaveBeenCalledWith(expect.anything(), expect.objectContaining({ sessionId: "s" }));
  const input = z.object({ euros: z.number() });
  const pay = tool({ name: "pay", input, needsApproval: true, execute: () => "paid" });
  const model = scriptedModel([{ toolCalls: [{ name: "pay", input: { euros: 80 }, id: "c1" }] }]);
  const agent = new Agent({ model, tools: [pay] });
  const paying = serve({ agent, store: memoryStore(), authorize: () => ({}), onError });
  await chunksOf(await post(paying, said("t", "Pay.")));
  onError.mockClear();
  await post(paying, { id: "t", approve: [{ toolCallId: "c1", input: { euros: "8" } }] });
  expect(onError).toHaveBeenCalledOnce();
  expect(onError).toHaveBeenCalledWith(
    expect.objectContaining({ code: "invalid-argument" }),
    expect.objectContaining({ sessionId: "t" }),
  );
});

test("a question that is declined is declined for its tool", async () => {
  const chat = serveBooking();
  await chunksOf(await post(chat, said("s", "Book.")));
  await chunksOf(await post(chat, { id: "s", answers: [{ toolCallId: "c1", declined: true }] }));
  expect(booked).toEqual([{ declined: true }]);
});

test("in AG-UI a question is an interrupt with a schema, and the payload is the answer", async () => {
  const chat = serveBooking("ag-ui");
  const body = { threadId: "s", runId: "r", messages: [{ id: "1", role: "user", content: "Book." }] };
  const events = await chunksOf<AgUiEvent>(await post(chat, body));
  const interrupt = { id: "c1", reason: "question", message: "Which seat?", toolCallId: "c1" };
  expect(events.at(-1)).toMatchObject({ outcome: { type: "interrupt", interrupts: [interrupt] } });
  const resume = [{ interruptId: "c1", status: "resolved", payload: { seat: "3" } }];
  await chunksOf(await post(chat, { ...body, messages: [], resume }));
  expect(booked).toEqual([{ seat: "3" }]);
});

test("a call is approved with changes", async () => {
  const paid: unknown[] = [];
  const input = z.object({ euros: z.number() });
  const pay = tool({ name: "pay", input, needsApproval: true, execute: (given) => paid.push(given) });
  const model = scriptedModel([{ toolCalls: [{ name: "pay", input: { euros: 80 }, id: "c1" }] }, "Paid."]);
  const agent = new Agent({ model, tools: [pay] });
  const chat = serve({ agent, store: memoryStore(), authorize: () => ({}), onError: () => undefined });
  await chunksOf(await post(chat, said("s", "Pay.")));
  expect((await post(chat, { id: "s", approve: [{ toolCallId: "c1", input: { euros: "8" } }] })).status).toBe(400);
  await chunksOf(await post(chat, { id: "s", approve: [{ toolCallId: "c1", input: { euros: 8 } }] }));
  expect(paid).toEqual([{ euros: 8 }]);
});

test("a call that asks again is told again", async () => {
  const twice = tool({
    name: "twice",
    execute: async (_, { ask }) => [await ask({ message: "First?" }), await ask({ message: "Second?" })],
  });
  const model = scriptedModel([{ toolCalls: [{ name: "twice", id: "c1" }] }, "Done."]);
  const chat = serve({ agent: new Agent({ model, tools: [twice] }), store: memoryStore(), authorize: () => ({}) });
  const answer = async (value: string) =>
    readMessage(await chunksOf(await post(chat, { id: "s", answers: [{ toolCallId: "c1", value }] })));
  await chunksOf(await post(chat, said("s", "Go.")));
  const asked = { state: "approval-requested", approval: { id: "c1", descriptor: { message: "Second?" } } };
  expect((await answer("a")).parts.at(-1)).toMatchObject(asked);
  expect(textsOf(await answer("b"))).toEqual(["Done."]);
});
