// Lesson 28: a tool that returns an image. Parts reach the model as files, each provider in the form that it takes.
// The record keeps the bytes once. The next turn reads a short marker instead of the image.
import { Agent, memoryStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import { image, text } from "offstage/tools";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const screenshot = tool({
  name: "screenshot",
  description: "Takes a screenshot of a page.",
  input: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
  // A browser would take it here. Bytes are fine, too: image(await page.screenshot(), "image/png").
  execute: ({ url }) => [text(`${url}, 1 x 1`), image(pixel, "image/png")],
});

const model = scriptedModel([
  { toolCalls: [{ name: "screenshot", input: { url: "https://example.com" } }] },
  "The page is one green pixel.",
  "Green, as I said.",
]);
const store = memoryStore();
const agent = new Agent({ model, tools: [screenshot], toolHistory: "digest" });
const session = store.session("anna");
await agent.run("What does example.com look like?", { session });
await agent.run("Which colour?", { session });

const contentOf = (request: number) => model.requests[request]?.messages.find(({ role }) => role === "tool")?.content;
console.log("The model saw:", contentOf(1));
console.log("In the next turn:", contentOf(2));

const [summary] = (await store.query({ session: "anna" })).toolSummary();
console.log("On record:", summary?.results[0]);
await store.close();
