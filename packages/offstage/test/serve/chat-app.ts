// The server of the browser test: two chat pages over one agent and one store.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { rolldown } from "rolldown";
import * as z from "zod";
import { nodeHandler, serve } from "../../src/doors/serve.ts";
import { Agent, type Message, sqliteStore, textOf, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { partnersFolder } from "./partners.ts";

/** The pages, by the name of their protocol. */
export type PageName = "ai-sdk" | "events";

/** Lets the tools that wait go on. */
export class Gate {
  #open = Promise.withResolvers<void>();

  wait(signal: AbortSignal): Promise<string> {
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    return Promise.race([this.#open.promise.then(() => "sunny"), stopped]);
  }

  release(): void {
    this.#open.resolve();
    this.#open = Promise.withResolvers<void>();
  }
}

function agentOf(gate: Gate, paid: unknown[]): Agent {
  const look = tool({ name: "look", execute: (_, { signal }) => gate.wait(signal) });
  const pay = tool({ name: "pay", needsApproval: true, execute: (input) => paid.push(input) });
  const book = tool({
    name: "book",
    execute: async (_, { ask }) =>
      `Seat ${JSON.stringify(await ask({ message: "Which seat?", schema: z.object({ seat: z.string() }) }))}`,
  });
  const model = scriptedModel(({ messages }) => reply(messages), { record: false });
  return new Agent({ name: "hall", model, tools: [look, pay, book] });
}

// Answers what was asked last, with everything that was said since.
function reply(messages: readonly Message[]) {
  const last = messages.at(-1) as Message;
  const start = messages.findLastIndex(({ role }, index) => role === "user" && messages[index - 1]?.role !== "tool");
  const asked = messages
    .slice(start)
    .filter(({ role }) => role === "user")
    .map(textOf);
  if (last.role === "tool" || asked.length > 1) {
    const results = messages
      .slice(start)
      .filter(({ role }) => role === "tool")
      .map(textOf);
    return `Answer to ${asked.join(" and ")}: ${results.join(", ")}`;
  }
  const [name = ""] = asked[0]?.split(" ") ?? [];
  if (name === "look" || name === "book") return { text: "One moment. ", toolCalls: [{ name }] };
  if (name === "pay") return { text: "Sure. ", toolCalls: [{ name, input: { euros: 5 } }] };
  return `You said: ${asked[0]}`;
}

/** Bundles the page that uses React. */
async function bundle(): Promise<string> {
  const built = await rolldown({
    input: `${partnersFolder}pages/use-chat.tsx`,
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' }, jsx: "react-jsx" },
    logLevel: "silent",
  });
  const { output } = await built.generate({ format: "esm", codeSplitting: false });
  await built.close();
  return output[0].code;
}

export interface ChatApp extends AsyncDisposable {
  readonly gate: Gate;
  readonly paid: unknown[];
  addressOf(page: PageName, session: string): string;
}

/** Serves both pages on a free port. */
export async function startChatApp(path: string): Promise<ChatApp> {
  const gate = new Gate();
  const paid: unknown[] = [];
  const store = sqliteStore({ path });
  const common = { agent: agentOf(gate, paid), store, authorize: () => ({}), show: () => "name" as const };
  const handlers = {
    "ai-sdk": nodeHandler(serve({ ...common, protocol: "ai-sdk" })),
    events: nodeHandler(serve({ ...common, protocol: "events" })),
  };
  const css = readFileSync(`${partnersFolder}pages/page.css`, "utf8");
  const scripts = { "ai-sdk": await bundle(), events: readFileSync(`${partnersFolder}pages/events.js`, "utf8") };
  const server = createServer((incoming, outgoing) => {
    const [, first = "", kind] = (incoming.url ?? "").split("/");
    const page = (kind === undefined ? first : kind).replace(/\.(js|html)$/, "") as PageName;
    if (first === "page" && incoming.url?.endsWith(".js"))
      return void outgoing.setHeader("content-type", "text/javascript").end(scripts[page]);
    if (first === "page")
      return void outgoing
        .setHeader("content-type", "text/html; charset=utf-8")
        .end(
          `<!doctype html><title>${page}</title><style>${css}</style><main></main><script type="module" src="/page/${page}.js"></script>`,
        );
    if (first in handlers) return void handlers[first as PageName](incoming, outgoing);
    outgoing.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    gate,
    paid,
    addressOf: (page, session) => `${base}/page/${page}.html#${session}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await store.close();
    },
  };
}
