// The server of bench/serve.mjs: an agent that streams 20 deltas a second, for as long as it is read. Answers "port" and "memory".
import http from "node:http";
import { nodeHandler, serve } from "../../packages/offstage/dist/doors/serve.js";
import { Agent, memoryStore } from "../../packages/offstage/dist/index.js";
import { pacedModel } from "./paced-model.mjs";

const agent = new Agent({ model: pacedModel({ everyMs: 50 }), tracing: false, keepMessages: 0 });
const server = http.createServer(nodeHandler(serve({ agent, store: memoryStore(), authorize: () => ({}) })));
server.listen(0, "127.0.0.1");

process.on("message", async (message) => {
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  if (message === "port") return process.send({ port: server.address().port });
  globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ bytes: heapUsed + external, rss });
});
