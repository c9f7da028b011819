// Lesson 38: an agent behind node:http, with the protocol of `useChat`. The client sees what was said, and no byte of a tool.
// A run goes on without its client: the connection is cut here, and the run is read again from its start.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, memoryStore, tool } from "offstage";
import { nodeHandler, serve } from "offstage/serve";
import { scriptedModel } from "offstage/testing";

const lookUp = tool({
  name: "look_up_order",
  description: "Finds an order.",
  execute: async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { status: "shipped", customer: "Anna", margin: 0.31 };
  },
});
const model = scriptedModel([
  { text: "Let me look. ", toolCalls: [{ name: "look_up_order" }] },
  "Your order was shipped today.",
]);

const chat = serve({
  agent: new Agent({ name: "support", model, tools: [lookUp] }),
  store: memoryStore(), // or sqliteStore({ path })
  authorize: (request, sessionId) => {
    const user = request.headers.get("x-user"); // your own sign-in
    return user === null ? undefined : { session: `${user}/${sessionId}` };
  },
  onError: (error) => console.log(`  (the server saw: ${error})`),
});
const server = createServer(nodeHandler(chat)).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`;

const headers = { "content-type": "application/json", "x-user": "anna" };
const body = JSON.stringify({
  id: "17",
  messages: [{ role: "user", parts: [{ type: "text", text: "Where is it?" }] }],
});

const stranger = await fetch(api, { method: "POST", headers: { "content-type": "application/json" }, body });
console.log("Without a name:", stranger.status, await stranger.text());

const cut = new AbortController();
const first = await fetch(api, { method: "POST", headers, body, signal: cut.signal });
console.log("\nAnna asks:", first.status);
cut.abort();

const again = await fetch(`${api}/17/stream`, { headers });
console.log("Her connection was cut. She comes back:");
for (const line of (await again.text()).split("\n\n")) if (line !== "") console.log(`  ${line}`);

const loaded = await fetch(`${api}/17`, { headers });
console.log("\nAfter a reload:");
for (const { role, parts } of (await loaded.json()) as { role: string; parts: { text: string }[] }[])
  console.log(`  ${role}: ${parts.map(({ text }) => text).join("")}`);
console.log("Nothing to continue:", (await fetch(`${api}/17/stream`, { headers })).status);
server.close();
