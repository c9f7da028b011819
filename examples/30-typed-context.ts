// Lesson 30: a typed context. `new Agent<Output, Values>` declares the values that each run needs for its tools, guardrails and functions.
// The compiler checks all of them: run() without the context, or with a wrong one, does not compile.
import { Agent, type ToolRunOptions, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

interface User {
  readonly name: string;
  readonly role: "guest" | "admin";
}
interface Context {
  user: User;
}

// Declare what a tool needs in its second argument. An agent with another context does not take it.
const close = tool({
  name: "close_shop",
  execute: (_, { context }: ToolRunOptions<Context>) => `closed by ${context.require("user").name}`,
});
const hours = tool({ name: "hours", execute: () => "9 to 5" }); // needs nothing, fits everywhere

const agent = new Agent<string, Context>({
  model: scriptedModel([{ toolCalls: [{ name: "close_shop" }] }, "The shop is closed.", "We are open from 9 to 5."]),
  instructions: (context) => `You talk to ${context.require("user").name}.`,
  tools: (context) => (context.require("user").role === "admin" ? [hours, close] : [hours]),
  inputGuardrails: [{ name: "named", check: (_, { context }) => context.require("user").name !== "" }],
  hooks: { onToolEnd: ({ result }, { context }) => console.log(`${context.get("user")?.name}: ${result.output}`) },
});

const anna: User = { name: "Anna", role: "admin" };
console.log((await agent.run("Close the shop.", { context: { user: anna } })).text);
console.log((await agent.run("When are you open?", { context: { user: { name: "Ben", role: "guest" } } })).text);

// Without @ts-expect-error, these lines do not compile.
const mistakes = [
  // @ts-expect-error the context is missing
  () => agent.run("Hello?"),
  // @ts-expect-error a user is not a number
  () => agent.run("Hello?", { context: { user: 42 } }),
  // @ts-expect-error this agent has no user for the tool
  () => new Agent<string, { tenant: string }>({ model: scriptedModel([]), tools: [close] }),
];
console.log(`${mistakes.length} mistakes that the compiler finds.`);
