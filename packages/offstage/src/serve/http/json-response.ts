// JSON responses, and refusals: a code, and a sentence only if it is about the client's own data.
import { type ErrorCode, isOffstageError } from "../../errors.ts";
import { RefusedRequest } from "../protocols/refused-request.ts";

const headers = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

export function jsonResponse(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers });
}

/** A response without a body. */
export function emptyResponse(status = 204): Response {
  return new Response(null, { status, headers: { "cache-control": "no-store" } });
}

const statuses: Partial<Record<ErrorCode, number>> = {
  "invalid-argument": 400,
  "invalid-message": 400,
  "session-busy": 409,
  "session-conflict": 409,
  "run-not-resumable": 409,
  "run-not-found": 409,
};

/** The response to a request that failed before a run began. */
export function refusal(error: unknown): Response {
  const { status, code } = refusalOf(error);
  const told = error instanceof RefusedRequest && error.isTold ? { message: error.message } : undefined;
  return jsonResponse({ error: { code, ...told } }, status);
}

function refusalOf(error: unknown): { status: number; code: string } {
  if (error instanceof RefusedRequest) return error;
  if (!isOffstageError(error)) return { status: 500, code: "server-error" };
  return { status: statuses[error.code] ?? (error.code.startsWith("store-") ? 503 : 500), code: error.code };
}
