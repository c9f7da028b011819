// Types of questions, decisions and steering.
import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { Agent, Approval, InMemorySession } from "../src/index.ts";
import { tool } from "../src/index.ts";

test("an answer has the type of its schema, or says that it was declined", () => {
  tool({
    name: "book",
    execute: async (_, { ask }) => {
      const answer = await ask({ message: "Which seat?", schema: z.object({ seat: z.string() }) });
      expectTypeOf(answer.seat).toEqualTypeOf<string | undefined>();
      if (!answer.declined) expectTypeOf(answer.seat).toEqualTypeOf<string>();
      const count = await ask({ message: "How many?", schema: z.number() });
      if (typeof count === "number") expectTypeOf(count).toEqualTypeOf<number>();
      else expectTypeOf(count.declined).toEqualTypeOf<true>();
      expectTypeOf(await ask({ message: "Why?" })).toEqualTypeOf<unknown>();
    },
  });
});

test("an approval narrows by its kind", () => {
  const read = (approval: Approval): string => (approval.kind === "question" ? approval.message : approval.toolName);
  expectTypeOf(read).returns.toEqualTypeOf<string>();
  // @ts-expect-error: only a question has a message
  const wrong = (approval: Approval) => approval.message;
  expectTypeOf(wrong).toBeFunction();
});

test("decisions, answers and steering are typed", () => {
  const use = async (agent: Agent, session: InMemorySession) => {
    await agent.resume("r", { approve: [{ toolCallId: "c", input: { euros: 8 } }] });
    await agent.resume("r", {
      answers: [
        { toolCallId: "c", value: 1 },
        { toolCallId: "d", declined: true },
      ],
    });
    await agent.run("Hi", { session, onBusy: "steer", onApproval: ({ kind }) => kind === "call" });
    expectTypeOf((await session.say("Hi")).joined).toEqualTypeOf<Promise<"run" | "next">>();
    // @ts-expect-error: only text or a message can be said
    await session.say(5);
  };
  expectTypeOf(use).toBeFunction();
});
