// The request to stop a run, as the reason of its cancellation. The run ends with a result, not with an error.

export class StopRequest extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason === "" ? "The run was asked to stop." : `The run was asked to stop: ${reason}`);
    this.reason = reason;
    this.name = "AbortError";
  }
}
