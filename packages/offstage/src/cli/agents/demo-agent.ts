// The agent behind `offstage chat --demo`: a shop's help desk that plays a script, so that it needs no key. It streams at the pace
// of a model, calls tools, asks a person before it pays, and has a tool that asks a question.
import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "../../agent/agent.ts";
import { type Message, textOf } from "../../messages/message.ts";
import type { Model, ModelStream } from "../../models/model.ts";
import { type ScriptEntry, scriptedModel } from "../../testing/scripted-model.ts";
import { tool } from "../../tools/tool.ts";

const orders: Readonly<Record<string, object>> = {
  "A-17": { item: "reading lamp", euros: 42, state: "delivered", address: "12 Mill Lane (old)" },
  "B-4": { item: "desk", euros: 180, state: "on its way", arrives: "Thursday" },
};

const orderInput = { type: "object", properties: { order: { type: "string" } }, required: ["order"] };

const lookUp = tool({
  name: "look_up_order",
  description: "Finds an order by its number.",
  input: orderInput,
  idempotent: true,
  execute: async (input) => {
    await sleep(700);
    const { order } = input as { order: string };
    const found = orders[order];
    if (found === undefined)
      throw new Error(`There is no order ${order}. The orders are ${Object.keys(orders).join(" and ")}.`);
    return found;
  },
});

const refund = tool({
  name: "refund",
  description: "Pays money back to the customer.",
  input: {
    type: "object",
    properties: { order: { type: "string" }, euros: { type: "number" } },
    required: ["order", "euros"],
  },
  needsApproval: true,
  execute: async (input) => {
    await sleep(400);
    const { euros } = input as { euros: number };
    return `${euros} euros were paid back.`;
  },
});

const deliver = tool({
  name: "choose_delivery",
  description: "Agrees with the customer on a day for the delivery.",
  execute: async (_input, { ask }) => {
    const answer = await ask({
      message: "On which day shall we come?",
      schema: {
        type: "object",
        properties: { day: { type: "string", enum: ["Monday", "Thursday", "Saturday"] } },
        required: ["day"],
      },
    });
    const { day = "no day" } = answer as { day?: string };
    return `Agreed on ${day}.`;
  },
});

/** Makes the agent of the demonstration. */
export function demoAgent(pauseMs = 35): Agent {
  return new Agent({
    name: "help-desk",
    instructions: "You help the customers of a furniture shop. Look an order up before you talk about it.",
    model: paced(
      scriptedModel(({ messages }) => replyTo(messages), { record: false, modelId: "demo" }),
      pauseMs,
    ),
    tools: [lookUp, refund, deliver],
  });
}

const usage = { inputTokens: 240, outputTokens: 40 };

// The last message decides: a question of the user, or the result of a call.
function replyTo(messages: readonly Message[]): Exclude<ScriptEntry, (...args: never[]) => unknown> {
  const last = messages.at(-1);
  const asked = messages.findLast(({ role }) => role === "user");
  const question = asked === undefined ? "" : textOf(asked);
  const order = /\b([a-z]-\d+)\b/i.exec(question)?.[1]?.toUpperCase() ?? "A-17";
  if (last?.role === "tool") return { text: answerTo(last.name ?? "", textOf(last), { order, question }), usage };
  if (/refund|money|pay/i.test(question))
    return {
      text: "I can pay it back. A colleague has to agree first.",
      toolCalls: [{ name: "refund", input: { order, euros: 42 } }],
      usage,
    };
  if (/deliver|day|when/i.test(question)) return { toolCalls: [{ name: "choose_delivery", input: {} }], usage };
  if (/order|lamp|desk|[a-z]-\d+/i.test(question))
    return { text: "Let me look.", toolCalls: [{ name: "look_up_order", input: { order } }], usage };
  return { text: introduction, usage };
}

const introduction =
  "I am a demonstration: I play a script, so that you can try this without a key. Ask me about order A-17 or B-4, or ask for a refund, which a person has to approve, or for another day of delivery. While I talk you can press Esc to stop me. Afterwards, look at what was said and done: offstage show last --trace.";

function answerTo(
  name: string,
  result: string,
  { order }: { readonly order: string; readonly question: string },
): string {
  if (name === "refund")
    return /were paid back/.test(result)
      ? `Done: ${result} It will be on your account tomorrow.`
      : "All right, then I pay nothing back.";
  if (name === "choose_delivery") return `${result} The driver calls half an hour before.`;
  if (/There is no order/.test(result)) return `I cannot find ${order}. ${result.replace(/^.*?There/s, "There")}`;
  if (order === "B-4")
    return "Your desk is on its way and arrives on Thursday, between nine and noon. The driver calls half an hour before.";
  return "Your reading lamp was delivered on Monday, but to 12 Mill Lane, which you told us is your old address. I am sorry. You can have it sent on, or have your money back: 42 euros.";
}

// The same model, which writes as slowly as a real one.
function paced(model: Model, pauseMs: number): Model {
  return {
    ...model,
    doStream: async (options) => {
      const { stream } = await model.doStream(options);
      return { stream: slowly(stream, pauseMs, options.abortSignal) };
    },
  };
}

async function* slowly(stream: ModelStream, pauseMs: number, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
  for await (const part of stream as AsyncIterable<unknown>) {
    await sleep(pauseMs, undefined, { signal });
    yield part;
  }
}
