// A loopback HTTP server that plays a script, one turn per request, and refuses every request that breaks the rules of the
// provider it imitates. The wire formats are in the files beside it, one per protocol.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Json = Record<string, unknown>;

/** A call as the fake model makes it; `arguments` is raw text, for broken JSON. */
export interface FakeCall {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  readonly arguments?: string;
  /** Gemini's thought signature, as OpenAI-compatible servers pass it on. */
  readonly signature?: string;
}

export type FakeThought = { readonly text: string; readonly signature: string } | { readonly redacted: string };

/** A reply of the fake model, independent of the provider. */
export interface FakeReply {
  readonly thoughts?: readonly FakeThought[];
  /** The text, in the pieces in which it is streamed. */
  readonly text?: readonly string[];
  readonly calls?: readonly FakeCall[];
  readonly usage?: { input: number; cached?: number; written?: number; output: number; reasoning?: number };
  /** Default: depends on whether there are calls. */
  readonly finish?: "stop" | "length";
  /** Provider-specific blocks or fields, placed before the calls. */
  readonly extra?: readonly Json[];
}

/** The server's response to one request. */
export type FakeTurn =
  | FakeReply
  /** An HTTP error. */
  | { readonly status: number; readonly headers?: Record<string, string>; readonly error?: Json }
  /** The connection is reset before any response. */
  | { readonly reset: true }
  /** The first events of a reply, followed by the end, a reset, or silence. */
  | { readonly begin: FakeReply; readonly events: number; readonly ending: "end" | "reset" | "hang" }
  /** The first events of a reply, followed by these frames. The connection may stay open. */
  | {
      readonly begin: FakeReply;
      readonly events: number;
      readonly frames: readonly string[];
      readonly ending?: "hang";
    };

export interface FakeRequest {
  readonly body: Json;
  readonly path?: string;
  readonly headers: IncomingHttpHeaders;
  /** By `performance.now()`. */
  readonly at: number;
}

/** The wire format of a provider. */
export interface Dialect {
  /** Returns the provider rule that a request breaks, if any. */
  check(request: FakeRequest): string | undefined;
  json(reply: FakeReply): Json;
  /** The frames of a streamed reply. */
  frames(reply: FakeReply): readonly (string | Uint8Array)[];
  error(status: number, message: string): Json;
  /** True if the reply is to be streamed. Default: the body says so. */
  streams?(request: FakeRequest): boolean;
  /** The content type of a streamed reply. Default: server-sent events. */
  readonly streamType?: string;
}

export interface FakeProvider extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** The reasons for which requests were refused with status 400. */
  readonly refusals: readonly string[];
  /** The number of turns that were not requested. */
  readonly unplayed: number;
  /** Resolves when the first turn was played or begun. */
  readonly played: Promise<void>;
  /** Resolves when a client has closed the connection during a reply. */
  readonly hungUp: Promise<void>;
}

/** Listens on a free port of the loopback interface. */
export async function fakeProvider(script: readonly FakeTurn[], dialect: Dialect): Promise<FakeProvider> {
  const turns = [...script];
  const requests: FakeRequest[] = [];
  const refusals: string[] = [];
  const played = deferred();
  const hungUp = deferred();
  const streams = dialect.streams ?? (({ body }: FakeRequest) => body.stream === true);
  const server = createServer(async (incoming, response) => {
    const { headers, url: path = "" } = incoming;
    const request: FakeRequest = { body: await readJson(incoming), path, headers, at: performance.now() };
    requests.push(request);
    response.on("close", () => response.writableFinished || hungUp.resolve());
    const problem = dialect.check(request) ?? (turns.length === 0 ? "the script has no further turn" : undefined);
    if (problem !== undefined) refusals.push(problem);
    if (problem !== undefined) sendJson(response, 400, dialect.error(400, problem));
    else play(turns.shift() as FakeTurn, { dialect, response, isStreamed: streams(request) });
    played.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refusals,
    get unplayed() {
      return turns.length;
    },
    played: played.promise,
    hungUp: hungUp.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let settle = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle() };
}

async function readJson(incoming: IncomingMessage): Promise<Json> {
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
  return JSON.parse(text) as Json;
}

interface Stage {
  readonly dialect: Dialect;
  readonly response: ServerResponse;
  readonly isStreamed: boolean;
}

function play(turn: FakeTurn, stage: Stage): void {
  const { dialect, response, isStreamed } = stage;
  if ("reset" in turn) response.socket?.resetAndDestroy();
  else if ("status" in turn) {
    const body = turn.error ?? dialect.error(turn.status, `status ${turn.status} on purpose`);
    sendJson(response, turn.status, body, turn.headers);
  } else if ("begin" in turn) playBroken(turn, stage);
  else if (isStreamed) beginEvents(response, dialect).end(joined(dialect.frames(turn)));
  else sendJson(response, 200, dialect.json(turn));
}

// Without streaming, a broken reply is half a JSON text or one that never ends.
function playBroken(turn: Extract<FakeTurn, { begin: FakeReply }>, { dialect, response, isStreamed }: Stage): void {
  const frames = dialect.frames(turn.begin).slice(0, turn.events);
  const half = JSON.stringify(dialect.json(turn.begin)).slice(0, 40);
  if (isStreamed) beginEvents(response, dialect).write(frames.length === 0 ? ":\n\n" : joined(frames));
  else response.writeHead(200, { "content-type": "application/json" }).write(half);
  if ("frames" in turn && isStreamed) response.write(turn.frames.join(""));
  if (turn.ending === "end" || turn.ending === undefined) response.end();
  // The client must have read the beginning, so that the cut is in the middle.
  else if (turn.ending === "reset") setTimeout(() => response.socket?.resetAndDestroy(), 50);
}

function beginEvents(response: ServerResponse, { streamType = "text/event-stream" }: Dialect): ServerResponse {
  return response.writeHead(200, { "content-type": streamType });
}

function joined(frames: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(frames.map((frame) => Buffer.from(frame as Uint8Array)));
}

function sendJson(response: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** The arguments of a call as the model writes them. */
export function argumentsOf(call: FakeCall): string {
  return call.arguments ?? JSON.stringify(call.input ?? {});
}

/** Splits a text into two pieces, as a stream would deliver it. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}
