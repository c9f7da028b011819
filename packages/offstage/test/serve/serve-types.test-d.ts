// The types of serve(): `authorize` returns a context that fits the agent's.
import { type Authorize, type ServeOptions, serve } from "../../src/doors/serve.ts";
import { Agent, AgentContext, memoryStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

interface Context {
  user: { name: string };
  tenant?: string;
}
const model = scriptedModel([]);
const store = memoryStore();
const user = { name: "Anna" };
const agent = new Agent<string, Context>({ model });

serve({ agent, store, authorize: () => ({ context: { user } }) });
serve({ agent, store, authorize: () => ({ session: "s", context: { user, tenant: "a" } }) });
serve({ agent, store, authorize: async () => ({ context: new AgentContext<Context>({ user }) }) });
serve({ agent, store, authorize: () => undefined });
serve({ agent, store, authorize: (request) => (request.url === "" ? undefined : { context: { user } }) });
// @ts-expect-error the context is missing
serve({ agent, store, authorize: () => ({}) });
// @ts-expect-error the context is missing for some requests
serve({ agent, store, authorize: (request) => (request.url === "" ? {} : { context: { user } }) });
// @ts-expect-error a user is no text
serve({ agent, store, authorize: () => ({ context: { user: "Anna" } }) });
// @ts-expect-error the user is missing
serve({ agent, store, authorize: async () => ({ context: { tenant: "a" } }) });

// If nothing must be there, the context may be left out.
const relaxed = new Agent<string, { tenant?: string }>({ model });
serve({ agent: relaxed, store, authorize: () => ({}) });
serve({ agent: relaxed, store, authorize: () => ({ context: { tenant: "a" } }) });

// An agent without a declared context takes any, whatever its answer is.
const plain = new Agent({ model });
serve({ agent: plain, store, authorize: () => ({}) });
serve({ agent: plain, store, authorize: () => ({ context: { anything: 1 } }) });
const typed: Agent<{ seats: number }> = new Agent<{ seats: number }>({ model });
serve({ agent: typed, store, authorize: () => ({}) });

// Options may be declared apart, with or without the context.
const authorize: Authorize<Context> = () => ({ context: { user } });
const options: ServeOptions<Context> = { agent, store, authorize };
serve(options);
const anybody: Authorize = () => ({});
serve({ agent: plain, store, authorize: anybody } satisfies ServeOptions);
