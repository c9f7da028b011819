// The types of agents and tools: they follow the schema, and allow nothing else.
import { expectTypeOf } from "vitest";
import { z } from "zod";
import { Agent, type AgentContext, type AgentHooks, type HookOptions, type Tool, tool } from "../src/index.ts";
import { scriptedModel } from "../src/testing/index.ts";

const model = scriptedModel([]);
const ticket = z.object({ title: z.string() });
interface Ticket {
  title: string;
}

// Without a schema the output is text, with one it has the type of the schema.
expectTypeOf(new Agent({ model })).toEqualTypeOf<Agent>();
expectTypeOf(new Agent({ model, output: ticket })).toEqualTypeOf<Agent<Ticket>>();

// A tool without a schema gets a plain object of unknown shape.
export const plain: Tool = tool({
  name: "plain",
  needsApproval: (input) => {
    expectTypeOf(input).toEqualTypeOf<object>();
    return true;
  },
  execute(input) {
    expectTypeOf(input).toEqualTypeOf<object>();
    // @ts-expect-error no schema declares a city
    return input.city;
  },
});
export const typed: Tool = tool({
  name: "typed",
  input: ticket,
  execute: (input) => expectTypeOf(input).toEqualTypeOf<Ticket>(),
});

// A hook has the context of its run, and may declare the type of its contents.
interface Tenancy {
  tenant: string;
}
export const hooks: AgentHooks = {
  onRunStart: (_, { context }) => expectTypeOf(context).toEqualTypeOf<AgentContext>(),
  onRunEnd: (_, { context }: HookOptions<Tenancy>) =>
    expectTypeOf(context.get("tenant")).toEqualTypeOf<string | undefined>(),
};

// Partial output has the type of the schema, with every field and item optional.
const report = z.object({
  title: z.string(),
  tags: z.array(z.object({ name: z.string(), weight: z.number().nullable() })),
  size: z.tuple([z.number(), z.number()]),
});
for await (const value of new Agent({ model, output: report }).stream("Go").partial) {
  expectTypeOf(value.title).toEqualTypeOf<string | undefined>();
  expectTypeOf(value.tags?.[0]?.weight).toEqualTypeOf<number | null | undefined>();
  expectTypeOf(value.size?.[1]).toEqualTypeOf<number | undefined>();
  // @ts-expect-error no such field
  value.name;
}
for await (const value of new Agent({ model }).stream("Go").partial) expectTypeOf(value).toEqualTypeOf<string>();
