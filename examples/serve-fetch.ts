// A handler of web requests on a free port of this machine, for lessons that serve something. Web frameworks do this themselves.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

/** Starts the server. */
export async function serveFetch(
  handle: (request: Request) => Promise<Response>,
): Promise<{ url: string; close(): void }> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = "GET", headers, url = "/" } = incoming;
    const body = method === "GET" || method === "HEAD" ? undefined : new Uint8Array(await buffer(incoming));
    const init = { method, headers: headers as Record<string, string>, ...(body && { body }) };
    const response = await handle(new Request(`http://${headers.host}${url}`, init));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) outgoing.end();
    else Readable.fromWeb(response.body).pipe(outgoing);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => void server.close().closeAllConnections() };
}
