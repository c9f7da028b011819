// A client made with the first generation of the SDK: calls one tool of a server at a URL, or of a command, and prints the result.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [name, input, address, ...args] = process.argv.slice(2);
const client = new Client({ name: "old", version: "1.0.0" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { approve: true } }));
const isHttp = address.startsWith("http:");
await client.connect(
  isHttp ? new StreamableHTTPClientTransport(new URL(address)) : new StdioClientTransport({ command: address, args }),
);
const { tools } = await client.listTools();
const { content, isError } = await client.callTool({ name, arguments: JSON.parse(input) });
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), content, isError: isError === true }));
await client.close();
