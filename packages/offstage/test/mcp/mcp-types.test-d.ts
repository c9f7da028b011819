// Types of mcpTools: providers of the client package fit, and wrong values do not.
import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import { mcpServer, mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent, type Store } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

declare const plain: AuthProvider;
declare const oauth: OAuthClientProvider;

mcpTools({ name: "a", url: "https://example.com", authProvider: plain });
mcpTools({ name: "a", url: new URL("https://example.com"), authProvider: oauth });
mcpTools({ name: "a", url: "https://example.com", authProvider: { token: async () => "t" }, headers: undefined });
mcpTools({ name: "a", command: "npx", approve: ({ tool, hints }) => tool !== "x" && hints.readOnlyHint !== true });
// @ts-expect-error: a name is required
mcpTools({ url: "https://example.com" });
// @ts-expect-error: no such policy
mcpTools({ name: "a", command: "npx", approve: "sometimes" });

declare const store: Store;
const typed = new Agent<{ title: string }, { user: string }>({ model: scriptedModel([]), output: {} as never });
mcpServer({
  store,
  agents: [new Agent({ model: scriptedModel([]) }), typed],
  authorize: async () => ({ namespace: "acme" }),
});
mcpServer({ store, authorize: () => undefined, secret: undefined });
// @ts-expect-error: a store is required
mcpServer({ agents: [] });
