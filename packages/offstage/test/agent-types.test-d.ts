// What the types say of agents and tools: what a schema describes, and nothing that is not there.
import { expectTypeOf } from "vitest";
import { z } from "zod";
import { Agent, type AgentContext, type AgentHooks, type HookOptions, type Tool, tool } from "../src/index.ts";
import { scriptedModel } from "../src/testing/index.ts";

const model = scriptedModel([]);
const ticket = z.object({ title: z.string() });
interface Ticket {
  title: string;
}

// Without a schema the output is text, with one it is what that describes.
expectTypeOf(new Agent({ model })).toEqualTypeOf<Agent>();
expectTypeOf(new Agent({ model, output: ticket })).toEqualTypeOf<Agent<Ticket>>();

// A tool without a schema gets an object that nothing is known of.
export const plain: Tool = tool({
  name: "plain",
  needsApproval: (input) => {
    expectTypeOf(input).toEqualTypeOf<object>();
    return true;
  },
  execute(input) {
    expectTypeOf(input).toEqualTypeOf<object>();
    // @ts-expect-error the model was told of no city
    return input.city;
  },
});
export const typed: Tool = tool({
  name: "typed",
  input: ticket,
  execute: (input) => expectTypeOf(input).toEqualTypeOf<Ticket>(),
});

// A hook has the context of its run; one that knows what is in it says so.
interface Tenancy {
  tenant: string;
}
export const hooks: AgentHooks = {
  onRunStart: (_, { context }) => expectTypeOf(context).toEqualTypeOf<AgentContext>(),
  onRunEnd: (_, { context }: HookOptions<Tenancy>) =>
    expectTypeOf(context.get("tenant")).toEqualTypeOf<string | undefined>(),
};
