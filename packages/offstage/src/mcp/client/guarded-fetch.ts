// The fetch of a connection: bounded answers, and no redirect that carries credentials.
import { OffstageError } from "../../errors.ts";

export interface GuardedFetchOptions {
  /** The name of the server, for errors. */
  readonly name: string;
  /** True if requests carry credentials. */
  readonly hasCredentials: boolean;
  /** The token of the next request, if there is an authProvider. */
  readonly token?: (() => Promise<string | undefined>) | undefined;
  /** Asks for more rights after a refusal with 403; resolves with the new token, or undefined if there is none yet. */
  readonly widen?: ((response: Response) => Promise<string | undefined>) | undefined;
  /** Told of an answer that is too large, which then ends. */
  readonly onFlood: (error: Error) => void;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

// An answer has at most so many bytes, and a stream of events in a minute.
const maxBytes = 64 * 1024 * 1024;
const minuteMs = 60_000;

/** A fetch for one server. */
export function guardedFetch(options: GuardedFetchOptions): Fetch {
  const { name, hasCredentials, token, widen, onFlood } = options;
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    const send = (sent: Headers): Promise<Response> =>
      fetchAgain(url, { ...init, headers: sent, ...(hasCredentials && { redirect: "manual" }) });
    let response = await send(headers);
    const renewed = response.status === 401 ? await newerToken(headers, token) : undefined;
    const better = renewed ?? (response.status === 403 ? await widen?.(response) : undefined);
    if (better !== undefined) {
      await response.body?.cancel();
      headers.set("authorization", `Bearer ${better}`);
      response = await send(headers);
    }
    if (hasCredentials && response.status >= 300 && response.status < 400) throw redirectError(name, response);
    return boundBody(response, name, onFlood);
  };
}

// A server that was started anew leaves closed connections in the pool of fetch. Everything but a call can be sent again.
async function fetchAgain(url: string | URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const isCall = typeof init.body !== "string" || init.body.includes('"method":"tools/call"');
    if (isCall || init.signal?.aborted === true) throw error;
    return fetch(url, init);
  }
}

// Another request may have got a new token since this one was sent.
async function newerToken(sent: Headers, token: GuardedFetchOptions["token"]): Promise<string | undefined> {
  const used = sent.get("authorization");
  if (used === null || token === undefined) return undefined;
  const current = await token().catch(() => undefined);
  return current === undefined || `Bearer ${current}` === used ? undefined : current;
}

function redirectError(name: string, response: Response): OffstageError {
  const origin =
    URL.parse(response.headers.get("location") ?? "", response.url || undefined)?.origin ?? "another address";
  const message = `The MCP server "${name}" redirects to ${origin}. Credentials are not sent there: use the final address as "url".`;
  return new OffstageError("mcp-failed", message);
}

function boundBody(response: Response, name: string, onFlood: (error: Error) => void): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
  let left = maxBytes;
  let since = performance.now();
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (isStream && performance.now() - since > minuteMs) [left, since] = [maxBytes, performance.now()];
        left -= chunk.byteLength;
        if (left >= 0) return controller.enqueue(chunk);
        const error = tooMuch(name, `more than ${maxBytes} bytes in one answer`);
        controller.error(error);
        onFlood(error);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}

/** The error for a server that sends too much. */
export function tooMuch(name: string, what: string): OffstageError {
  return new OffstageError("mcp-failed", `The MCP server "${name}" sent ${what}. The connection was closed.`);
}
