// MCP servers on HTTP, made with the real server package, for tests.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";

export type Handler = (request: Request) => Promise<Response> | Response;

/** The body of a request, as far as tests read it. */
export interface RequestBody {
  readonly method?: string;
  readonly params: { readonly _meta: Record<string, unknown>; readonly [key: string]: unknown };
}

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  /** The requests so far: method, headers and the parsed body. */
  readonly requests: { method: string; headers: IncomingMessage["headers"]; body: RequestBody | undefined }[];
  close(): Promise<void>;
}

/** Serves a handler of web requests on a free port of this machine. */
export async function serveHttp(handler: Handler, port = 0): Promise<HttpServer> {
  const requests: HttpServer["requests"] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { method = "GET", headers } = incoming;
    requests.push({ method, headers, body: text.startsWith("{") ? JSON.parse(text) : undefined });
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const request = new Request(`http://${headers.host}${incoming.url}`, {
      method,
      headers: headers as Record<string, string>,
      signal: gone.signal,
      ...(text !== "" && { body: text }),
    });
    try {
      const response = await handler(request);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      for await (const chunk of response.body ?? []) {
        if (outgoing.destroyed) break;
        if (!outgoing.write(chunk)) await drained(outgoing);
      }
      outgoing.end();
    } catch {
      outgoing.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { url, requests, close, [Symbol.asyncDispose]: close };
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}

/** An MCP server with the tools that `define` registers, on HTTP. */
export function serveMcp(
  define: (server: McpServer) => void,
  options: { instructions?: string } = {},
): Promise<HttpServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { capabilities: { tools: {} }, ...options });
    define(server);
    return server;
  });
  return serveHttp((request) => handler.fetch(request));
}
