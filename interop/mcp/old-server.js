// A server made with the first generation of the SDK: on standard input and output, or on HTTP with sessions if a port is given.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod/v4";

function oldServer() {
  const server = new McpServer({ name: "old", version: "1.0.0" });
  server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  const about = { outputSchema: { celsius: z.number() } };
  server.registerTool("weather", about, () => ({ content: [], structuredContent: { celsius: 21 } }));
  server.registerTool("book", {}, async () => {
    const requestedSchema = { type: "object", properties: { seat: { type: "string" } }, required: ["seat"] };
    const { action, content } = await server.server.elicitInput({ message: "Which seat?", requestedSchema });
    return {
      content: [{ type: "text", text: action === "accept" ? `Booked ${content.seat}.` : `Not booked: ${action}.` }],
    };
  });
  return server;
}

if (process.argv[2] === undefined) await oldServer().connect(new StdioServerTransport());
else {
  const transports = new Map();
  const http = createServer(async (request, response) => {
    const known = transports.get(request.headers["mcp-session-id"]);
    if (known !== undefined) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    await oldServer().connect(transport);
    await transport.handleRequest(request, response);
  });
  http.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
