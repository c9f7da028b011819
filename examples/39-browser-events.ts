// Lesson 39: a chat page with plain browser code, over our own events: no framework, no library, no build.
// Run it with PORT=3000 and open the page. Without PORT it reads the same events itself, and ends.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, memoryStore, tool } from "offstage";
import { nodeHandler, serve } from "offstage/serve";
import { scriptedModel } from "offstage/testing";

// Runs in the browser: posts a message, and calls back for each event of the answer.
async function ask(url: string, message: string, onEvent: (event: { type: string; delta?: string }) => void) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ id: "hall", message }) });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) if (event.startsWith("data: ")) onEvent(JSON.parse(event.slice(6)));
  }
}

const page = `<!doctype html><meta charset="utf-8"><title>Box office</title>
<ul></ul><form><input autofocus placeholder="Ask"><button>Send</button></form>
<script type="module">
const ask = ${ask};
const line = (text) => document.querySelector("ul").appendChild(Object.assign(document.createElement("li"), { textContent: text }));
document.querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  const input = document.querySelector("input");
  line("You: " + input.value);
  const answer = line("");
  ask("/chat", input.value, (event) => {
    if (event.type === "tool-start") answer.textContent = event.toolName + " …";
    if (event.type === "text-delta") answer.textContent += event.delta;
    if (event.type === "step-end" && !event.isAnswer) answer.textContent = "";
  });
  input.value = "";
};
</script>`;

const seats = tool({ name: "free_seats", description: "Counts free seats.", execute: () => 12 });
const model = scriptedModel(({ messages }) =>
  messages.at(-1)?.role === "user" ? { toolCalls: [{ name: "free_seats" }] } : "Twelve seats are free tonight.",
);
const agent = new Agent({ name: "box-office", model, tools: [seats] });
const show = () => "name" as const; // the names of tools, not what they return
const chat = nodeHandler(serve({ agent, store: memoryStore(), authorize: () => ({}), protocol: "events", show }));
const server = createServer((request, response) =>
  request.url === "/" ? response.setHeader("content-type", "text/html").end(page) : void chat(request, response),
).listen(Number(process.env.PORT ?? 0), "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
if (process.env.PORT !== undefined) console.log(`Open ${url}`);
else {
  await ask(`${url}chat`, "Are there seats?", (event) => console.log(event));
  server.close();
}
