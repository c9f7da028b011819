// A request that is refused before anything runs. Only the status and the code reach the client, and a sentence about its own data.

export interface RefusedRequestOptions {
  /** True if the sentence is about the client's data alone, and may be told to it. */
  readonly isTold?: boolean;
}

/** Thrown for a request that is not allowed. The sentence is for the server's `onError`. Without a stack: no code is at fault. */
export class RefusedRequest extends Error {
  override readonly name = "RefusedRequest";
  readonly status: number;
  readonly code: string;
  readonly isTold: boolean;

  constructor(status: number, code: string, message: string, { isTold = false }: RefusedRequestOptions = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.isTold = isTold;
    this.stack = `${this.name}: ${message}`;
  }
}

/** A request that the protocol does not allow. */
export function badRequest(message: string): RefusedRequest {
  return new RefusedRequest(400, "invalid-request", message);
}
