// Special return values of a tool: a ready-made answer, and a subagent that waits.
import type { AgentStateJson } from "../state/pending-step.ts";

/** An answer that the model is shown word for word; the tool says itself whether it is a failure. */
export class ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  /** The run of the subagent that gave it. */
  readonly childRunId: string | undefined;
  /** The error behind a failure, if one was thrown. */
  readonly thrown: { readonly error: unknown } | undefined;

  constructor(text: string, options: ToolAnswerOptions = {}) {
    this.text = text;
    this.isError = options.isError ?? false;
    this.childRunId = options.childRunId;
    this.thrown = options.thrown;
  }
}

export interface ToolAnswerOptions {
  readonly isError?: boolean | undefined;
  readonly childRunId?: string | undefined;
  readonly thrown?: { readonly error: unknown } | undefined;
}

/** Returned by a subagent while calls inside its own run wait for approval. */
export class ToolWaiting {
  readonly child: { readonly runId: string; readonly agent: string; readonly state: AgentStateJson } | undefined;

  constructor(child?: ToolWaiting["child"]) {
    this.child = child;
  }
}
