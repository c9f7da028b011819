// A server in a process of its own: `node server-process.ts <folder>`. Its agent looks twice; the second time it waits until a file named
// after the session exists. Prints its port.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, sqliteStore, tool } from "offstage";
import { nodeHandler, serve } from "offstage/serve";
import { scriptedModel } from "offstage/testing";

const [, , folder = ""] = process.argv;
const look = tool({ name: "look", execute: () => ({ seen: "everything" }) });
const wait = tool({
  name: "wait",
  execute: async (_, { signal, context }) => {
    while (!existsSync(`${folder}/${String(context.get("session"))}`)) await sleep(20, undefined, { signal });
    return "waited";
  },
});
const model = scriptedModel(({ messages }) => {
  const done = messages
    .slice(messages.findLastIndex(({ role }) => role === "user"))
    .filter(({ role }) => role === "tool").length;
  const steps = [
    { text: "I look first. ", toolCalls: [{ name: "look", id: "c1" }] },
    { text: "Then I wait. ", toolCalls: [{ name: "wait", id: "c2" }] },
  ];
  return steps[done] ?? "Here is the answer.";
});
const agent = new Agent({ name: "desk", model, tools: [look, wait] });
const store = sqliteStore({ path: `${folder}/chat.db` });
const authorize = (_: Request, session: string) => ({ context: { session } });
const chat = {
  conversation: serve({ agent, store, authorize }),
  trace: serve({ agent, store, authorize, show: "trace" }),
};
const server = createServer((incoming, outgoing) => {
  const show = incoming.url?.startsWith("/trace") ? "trace" : "conversation";
  void nodeHandler(chat[show])(incoming, outgoing);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
