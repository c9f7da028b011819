// Reads a request: which session it is about, and its body. Bounded, JSON only; cookies are not read.
import { isObject, parseJson } from "../../base/json.ts";
import { isId } from "../../sessions/head/namespace-rows.ts";
import { longestId } from "../../sessions/ports/tables.ts";
import type { Posted, Protocol } from "../protocols/protocol.ts";
import { badRequest, RefusedRequest } from "../protocols/refused-request.ts";

/** A request, read: its method, its session and its body. */
export type Route =
  | { readonly method: "POST"; readonly posted: Posted; readonly sessionId: string }
  | { readonly method: "GET" | "DELETE"; readonly isStream: boolean; readonly sessionId: string };

/** The route of a request. Throws a `RefusedRequest` if there is none. */
export async function readRoute(request: Request, protocol: Protocol, maxBodyBytes: number): Promise<Route> {
  const { method } = request;
  if (method === "POST") {
    const posted = protocol.read(await readBody(request, maxBodyBytes));
    return { method, posted, sessionId: checkSessionId(posted.sessionId) };
  }
  if (method !== "GET" && method !== "DELETE")
    throw new RefusedRequest(405, "method-not-allowed", `The method ${method} is not served.`);
  const segments = new URL(request.url).pathname.split("/").filter((segment) => segment !== "");
  const isStream = segments.length > 1 && segments.at(-1) === "stream";
  const sessionId = checkSessionId(decode(segments.at(isStream ? -2 : -1) ?? ""));
  if (method === "DELETE" && !isStream) throw new RefusedRequest(404, "not-found", "Only a stream can be deleted.");
  return { method, isStream, sessionId };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest("The session id in the path is not valid.");
  }
}

function checkSessionId(id: string): string {
  if (isId(id)) return id;
  throw badRequest(`A session id must be text of 1 to ${longestId} bytes, without NUL and lone surrogates.`);
}

async function readBody(request: Request, maxBytes: number): Promise<Record<string, unknown>> {
  // A page of another site cannot send this type without asking first.
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/json")
    throw new RefusedRequest(415, "unsupported-media-type", "The body must be application/json.");
  const value = parseJson(await readText(request, maxBytes));
  if (!isObject(value)) throw badRequest("The body must be a JSON object.");
  return value;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = () => new RefusedRequest(413, "too-large", `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  const reader = request.body?.getReader();
  if (reader === undefined) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (true) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      throw tooLarge();
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString("utf8");
}
