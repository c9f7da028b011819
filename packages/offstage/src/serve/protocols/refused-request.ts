// A request that is refused before anything runs. Only the status and the code reach the client.

/** Thrown for a request that is not allowed. The sentence is for the server's `onError`. */
export class RefusedRequest extends Error {
  override readonly name = "RefusedRequest";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A request that the protocol does not allow. */
export function badRequest(message: string): RefusedRequest {
  return new RefusedRequest(400, "invalid-request", message);
}
