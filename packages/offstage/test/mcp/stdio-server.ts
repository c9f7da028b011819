// An MCP server on standard input and output, for tests: tells its environment, dies when asked, and floods. By hand, so that it
// starts quickly and can misbehave.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { NOTES, FAIL } = process.env;
if (FAIL === "yes") {
  process.stderr.write("\u001b[31mno licence for sk-proj-abcdefghijklmnopqrstuvwxyz0123456789\n");
  process.exit(3);
}

const send = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function writeForever(chunk: string): string {
  const write = (): void => {
    while (process.stdout.write(chunk));
    process.stdout.once("drain", write);
  };
  write();
  return "";
}

const notification = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } };

const tools: Record<string, () => string> = {
  environment: () => JSON.stringify(Object.keys(process.env).sort()),
  pid: () => String(process.pid),
  die: () => process.exit(1),
  die_after_answer() {
    setTimeout(() => process.exit(0), 10);
    return "goodbye";
  },
  flood: () => writeForever(`${JSON.stringify(notification)}\n`.repeat(100)),
  endless: () => writeForever("x".repeat(65_536)),
};

const listed = Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } }));

function answer(method: string, params: { readonly name: string }): object | undefined {
  if (method === "initialize")
    return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "stdio", version: "1" } };
  if (method === "tools/list") return { tools: listed };
  if (method !== "tools/call") return undefined;
  if (NOTES !== undefined) appendFileSync(NOTES, `${params.name}\n`);
  return { content: [{ type: "text", text: tools[params.name]?.() ?? "" }] };
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = answer(method, params);
    send(result === undefined ? { id, error: { code: -32601, message: `no ${method}` } } : { id, result });
  })
  .on("close", () => process.exit(0));
