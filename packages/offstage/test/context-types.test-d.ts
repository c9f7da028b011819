// The types of context, output and events: right use needs no cast, and each wrong use is an error.
import { expectTypeOf } from "vitest";
import { z } from "zod";
import type { StepFunction } from "../src/doors/tools.ts";
import {
  Agent,
  AgentBuilder,
  AgentContext,
  type AgentEvent,
  type AgentHooks,
  AgentState,
  type InputGuardrail,
  type RunResult,
  type Tool,
  type ToolRunOptions,
  tool,
} from "../src/index.ts";
import { scriptedModel } from "../src/testing/index.ts";

const model = scriptedModel([]);
interface User {
  name: string;
}
interface Context {
  user: User;
  tenant?: string;
}
const user: User = { name: "Anna" };

// The context of a tool is what its options declare.
const greet = tool({
  name: "greet",
  input: z.object({ loud: z.boolean() }),
  execute: ({ loud }, { context }: ToolRunOptions<Context>) => {
    expectTypeOf(loud).toEqualTypeOf<boolean>();
    expectTypeOf(context.get("user")).toEqualTypeOf<User | undefined>();
    expectTypeOf(context.require("user")).toEqualTypeOf<User>();
    // @ts-expect-error no such value
    context.get("users");
    // @ts-expect-error a user is no text
    context.set("user", "Anna");
    return context.require("user").name;
  },
});
const plain = tool({
  name: "plain",
  execute: (_, { context }) => expectTypeOf(context.get("anything")).toEqualTypeOf<unknown>(),
});

// Functions, guardrails and hooks of an agent get its context.
const agent = new Agent<string, Context>({
  model: (context) => {
    expectTypeOf(context).toEqualTypeOf<AgentContext<Context>>();
    return model;
  },
  instructions: (context, { step }) => `${context.require("user").name} ${step}`,
  tools: [greet, plain, { type: "provider", id: "a.b" }],
  hooks: { onRunEnd: (_, { context }) => expectTypeOf(context).toEqualTypeOf<AgentContext<Context>>() },
  inputGuardrails: [{ name: "a", check: (_, { context }) => context.require("user").name !== "" }],
  outputGuardrails: [{ name: "b", check: (_, { context }) => context.require("user").name !== "" }],
  // @ts-expect-error no such field of a user
  toolInputGuardrails: [{ name: "c", check: (_, { context }) => context.require("user").age > 5 }],
});
new Agent<string, Context>({ model, tools: async (context) => (context.has("tenant") ? [greet] : [plain]) });

// @ts-expect-error no such value
new Agent<string, Context>({ model, instructions: (context) => `${context.get("name")}` });
// @ts-expect-error no such value
new Agent<string, Context>({ model, tools: (context) => (context.has("admin") ? [greet] : []) });
// @ts-expect-error no such value
new Agent<string, Context>({ model, hooks: { onRunEnd: (_, { context }) => context.get("name") } });
// @ts-expect-error the tool needs a user, and this agent has none
new Agent<string, { tenant: string }>({ model, tools: [greet] });
// @ts-expect-error the tool needs another user
new Agent<string, { user: number }>({ model, tools: [greet] });
// @ts-expect-error the subagent needs a user
new Agent<string, { tenant: string }>({ model, tools: [agent.asTool()] });
new Agent<string, Context & { extra: number }>({ model, tools: [agent.asTool(), greet] });
// Without a declared context, an agent takes every tool, as before.
new Agent({ model, tools: [greet, plain, agent.asTool()] });

// A context with values that must be there is required.
agent.run("Hi", { context: { user } });
agent.run("Hi", { context: { user, tenant: "acme" }, maxSteps: 3 });
agent.run("Hi", { context: new AgentContext<Context>({ user }) });
agent.stream("Hi", { context: { user } });
agent.execute(AgentState.empty(), { context: { user } });
agent.resume("run", { context: { user }, approve: ["a"] });
// @ts-expect-error no context
agent.run("Hi");
// @ts-expect-error no context
agent.run("Hi", { maxSteps: 3 });
// @ts-expect-error no context
agent.stream("Hi");
// @ts-expect-error no context
agent.execute(AgentState.empty());
// @ts-expect-error no context
agent.resume("run");
// @ts-expect-error a user is not a number
agent.run("Hi", { context: { user: 42 } });
// @ts-expect-error no such value
agent.run("Hi", { context: { user, nonsense: true } });
// @ts-expect-error no user
agent.run("Hi", { context: {} });
// @ts-expect-error another context
agent.run("Hi", { context: new AgentContext<{ user: number }>({ user: 1 }) });

// Agents without required values are as simple as before.
const simple = new Agent({ model });
simple.run("Hi");
simple.run("Hi", { context: { anything: 1 } });
simple.run("Hi", { context: user });
new Agent<string, { tenant?: string }>({ model }).run("Hi");

const built = AgentBuilder.base<Context>().withModel(model).withTools(greet).build();
expectTypeOf(built).toEqualTypeOf<Agent<string, Context>>();
// @ts-expect-error no context
built.run("Hi");

export const guardrail: InputGuardrail<Context> = {
  name: "typed",
  check: (_, { context }) => context.get("tenant") !== "",
};
export const wrong: InputGuardrail<Context> = {
  name: "wrong",
  // @ts-expect-error no such value
  check: (_, { context }) => context.get("tenants") !== "",
};
export const hooks: AgentHooks<Context> = { onToolEnd: (_, { context }) => context.get("user")?.name };
export const choose: StepFunction<readonly Tool[], Context> = (context) => (context.get("tenant") ? [plain] : []);

// With a schema there may be no output; without one it is text.
const ticket = z.object({ title: z.string() });
const typed = await new Agent({ model, output: ticket }).run("Hi");
expectTypeOf(typed.output).toEqualTypeOf<{ title: string } | undefined>();
expectTypeOf(typed.text).toEqualTypeOf<string>();
expectTypeOf(typed.requireOutput()).toEqualTypeOf<{ title: string }>();
// @ts-expect-error a run that was stopped has none
typed.output.title;
const text = await simple.run("Hi");
expectTypeOf(text.output).toEqualTypeOf<string>();
const choice = await new Agent({ model, output: z.enum(["yes", "no"]) }).run("Hi");
expectTypeOf(choice.output).toEqualTypeOf<"yes" | "no" | undefined>();
const both = await new Agent<{ title: string }, Context>({ model, output: ticket }).run("Hi", { context: { user } });
expectTypeOf(both.output).toEqualTypeOf<{ title: string } | undefined>();

// JSON Schema tells no type: it is unknown, unless it is declared.
const jsonSchema = { type: "object", properties: { title: { type: "string" } } };
expectTypeOf((await new Agent({ model, output: jsonSchema }).run("Hi")).output).toEqualTypeOf<unknown>();
expectTypeOf((await new Agent({ model, output: { jsonSchema } }).run("Hi")).output).toEqualTypeOf<unknown>();
const declared = await new Agent<{ title: string }>({ model, output: jsonSchema }).run("Hi");
expectTypeOf(declared.output).toEqualTypeOf<{ title: string } | undefined>();
const validated = await new Agent({ model, output: { jsonSchema, validate: (value) => String(value).length } }).run("");
expectTypeOf(validated.output).toEqualTypeOf<number | undefined>();
// @ts-expect-error unknown has no title
(await new Agent({ model, output: jsonSchema }).run("Hi")).output.title;

// Every agent is an agent of unknown output, and every result a result of it.
export const anyAgent = <Output>(some: Agent<Output>): Agent<unknown> => some;
export const anyResult = <Output>(some: RunResult<Output>): RunResult<unknown> => some;

// `with` keeps the types.
expectTypeOf(agent.with({ model })).toEqualTypeOf<Agent<string, Context>>();
// @ts-expect-error no such option
agent.with({ modle: model });

// Events narrow by their type.
export function read(event: AgentEvent): string {
  // @ts-expect-error only text deltas have a delta
  event.delta;
  if (event.type === "tool-end") return event.result.toolName;
  // @ts-expect-error there is no such event
  if (event.type === "tool-finished") return "";
  return event.type === "text-delta" ? event.delta : "";
}
