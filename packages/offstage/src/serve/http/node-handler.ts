// Serves a fetch handler with node:http, express or connect.
import type { IncomingMessage, ServerResponse } from "node:http";
import { checkRequired, someFunction } from "../../base/options.ts";
import { warn } from "../../base/warn.ts";
import { messageOf } from "../../errors.ts";

/** A handler of requests, as every runtime has it. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A listener of node:http, and a handler of express. */
export type NodeHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** The handler as a listener for `http.createServer()`, or a handler for `app.use()`. */
export function nodeHandler(handler: FetchHandler): NodeHandler {
  checkRequired("handler", handler, someFunction);
  return async (incoming, outgoing) => {
    const request = readRequest(incoming);
    if (typeof request === "number") return void outgoing.writeHead(request).end();
    try {
      await send(await handler(request), outgoing);
    } catch (error) {
      warn(`A request could not be answered: ${messageOf(error)}`);
      // A connection that is cut tells the client to connect again; one that ends would look complete.
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500).end();
    }
  };
}

// The request, or the status that refuses one that cannot be expressed: a malformed path or host, or a method that fetch forbids.
function readRequest(incoming: IncomingMessage): Request | number {
  if (incoming.method === "TRACE" || incoming.method === "CONNECT" || incoming.method === "TRACK") return 405;
  try {
    return requestOf(incoming);
  } catch {
    return 400;
  }
}

// A middleware may have parsed the body already; express keeps the path before a mount point in `originalUrl`.
function requestOf(incoming: IncomingMessage & { body?: unknown; originalUrl?: string }): Request {
  const { method = "GET", headers, rawHeaders } = incoming;
  const list = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (!name.startsWith(":")) list.append(name, rawHeaders[index + 1] as string);
  }
  const url = new URL(incoming.originalUrl ?? incoming.url ?? "/", `http://${headers.host ?? "localhost"}`);
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers: list });
  const body = incoming.body === undefined ? incomingBody(incoming) : JSON.stringify(incoming.body);
  // `duplex` is required for a body that is a stream, and missing in some type libraries.
  const init = { method, headers: list, body, duplex: "half" } as RequestInit;
  return new Request(url, init);
}

function incomingBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array);
    },
    cancel: () => void incoming.resume(),
  });
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  if (reader === undefined) return void outgoing.end();
  outgoing.flushHeaders();
  // The client has left: its reader ends, and the run goes on.
  outgoing.once("close", () => void reader.cancel().catch(() => undefined));
  while (true) {
    const { done, value } = await reader.read();
    if (done || outgoing.destroyed) break;
    if (!outgoing.write(value)) await waitForDrain(outgoing);
  }
  outgoing.end();
}

function waitForDrain(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.on("drain", done);
    outgoing.on("close", done);
  });
}
