// Serves an agent over HTTP, as a fetch handler. The store's conversation is the truth: of what a client posts, only a new message
// and decisions count.
import { isObject, type JsonObject } from "../base/json.ts";
import type { PersistentSession } from "../sessions/persistent-session.ts";
import type { AnyValues } from "../state/agent-context.ts";
import { readConversation } from "./conversation.ts";
import { findDecided } from "./decide.ts";
import { eventStream, Pings } from "./http/event-stream.ts";
import { emptyResponse, jsonResponse, refusal } from "./http/json-response.ts";
import type { FetchHandler } from "./http/node-handler.ts";
import { type Route, readRoute } from "./http/read-request.ts";
import { protocols } from "./protocols/index.ts";
import type { Posted, Protocol } from "./protocols/protocol.ts";
import { RefusedRequest } from "./protocols/refused-request.ts";
import { findTurn } from "./regenerate.ts";
import type { EventReader } from "./runs/event-log.ts";
import { followRun } from "./runs/follow-run.ts";
import type { RunHost, SessionPlace } from "./runs/run-host.ts";
import { RunsHere } from "./runs/runs-here.ts";
import { checkServeOptions, reporter, type ServeOptions } from "./serve-options.ts";
import type { Show } from "./telling/show.ts";

const defaultMaxBodyBytes = 4 * 1024 * 1024;

/**
 * Serves an agent: `POST /` takes a message or decisions, and streams the run; `GET /:id` returns the conversation; `GET /:id/stream`
 * streams a run that works or whose process died, or answers 204; `DELETE /:id/stream` stops it. Paths may have any prefix.
 */
export function serve<Values extends object = AnyValues>(given: ServeOptions<Values>): FetchHandler {
  const options = given as ServeOptions;
  checkServeOptions(options);
  const { agent, show = "conversation", waitUntil } = options;
  const onError = reporter(options.onError);
  const protocol = protocols[options.protocol ?? "ai-sdk"];
  const host =
    options.engine?.hostRuns({ agent: agent.name, show }) ?? new RunsHere({ agent, show, waitUntil, onError });
  const server: Server = { host, show, protocol, pings: new Pings() };
  return async (request) => {
    let sessionId: string | undefined;
    try {
      const route = await readRoute(request, protocol, options.maxBodyBytes ?? defaultMaxBodyBytes);
      sessionId = route.sessionId;
      const place = await authorize(options, request, sessionId);
      sessionId = place.session.sessionId;
      return await answer(server, route, place);
    } catch (error) {
      // `authorize` has refused it, and knows.
      const isDenied = error instanceof RefusedRequest && error.status === 401;
      if (!isDenied) onError(error, { request, sessionId });
      return refusal(error);
    }
  };
}

interface Server {
  readonly host: RunHost;
  readonly show: Show;
  readonly protocol: Protocol;
  readonly pings: Pings;
}

async function answer(server: Server, route: Route, place: SessionPlace): Promise<Response> {
  const { protocol, host, show } = server;
  if (route.method === "POST") return post(server, place, route.posted);
  if (route.method === "DELETE") {
    await host.stop(place);
    return emptyResponse();
  }
  if (!route.isStream) return jsonResponse(protocol.conversation(await readConversation(place.session, show)));
  const reader = await readRun(server, place);
  return reader === undefined ? emptyResponse() : streamResponse(server, reader, route);
}

async function authorize(options: ServeOptions, request: Request, asked: string): Promise<SessionPlace> {
  const allowed: unknown = await options.authorize(request, asked);
  if (allowed === undefined || allowed === null || allowed === false)
    throw new RefusedRequest(401, "unauthorized", `The request may not use session "${asked}".`);
  if (!isObject(allowed)) throw new TypeError('"authorize" must return an object, or undefined to refuse.');
  const { session: named = asked, namespace, context } = allowed as JsonObject & { context?: object };
  const given = isObject(named) ? (named as unknown as PersistentSession) : undefined;
  const space = (namespace ?? given?.namespace) as string | undefined;
  const store = space === undefined ? options.store : options.store.namespace(space);
  const session = store.session(given?.sessionId ?? (named as string));
  return { store, session, context, key: JSON.stringify([session.namespace, session.sessionId]) };
}

async function post(server: Server, place: SessionPlace, { action, sessionId, requestId }: Posted): Promise<Response> {
  const { host } = server;
  const at = { sessionId, requestId };
  if (action.type === "decisions") {
    const { run, decisions } = await findDecided(place.session, action.decisions, action.runId);
    return streamResponse(server, (await host.resume(place, run, decisions)).read("resumed"), at);
  }
  if (action.type === "message")
    return streamResponse(server, (await host.start(place, action.message)).read("start"), at);
  const { message, replaced } = await findTurn(place, action.runId);
  return streamResponse(server, (await host.replace(place, message, replaced)).read("start"), at);
}

// The run that works on the session, here or elsewhere. A run whose process died is resumed here.
async function readRun({ host, show }: Server, place: SessionPlace): Promise<EventReader | undefined> {
  const { session } = place;
  const found = host.find(place) ?? (await host.recover(place));
  const [run] = await session.runs({ status: "running", limit: 1 });
  // The end of a run is kept here for a while; one that works elsewhere comes first.
  if (found !== undefined && (run === undefined || run.runId === found.runId)) return found.read("start");
  return run && followRun(session, run.runId, { show, recover: () => host.recover(place) });
}

function streamResponse({ protocol, pings }: Server, reader: EventReader, place: Omit<Posted, "action">): Response {
  return eventStream(reader, { protocol, place, pings });
}
