// A ready-made answer: what a tool gives when it decides itself what the model reads and whether that is a failure.
import type { AgentStateJson } from "../state/pending-step.ts";

/** Shown to the model word for word. */
export class ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  /** The run of the subagent that gave it. */
  readonly childRunId: string | undefined;
  /** What was thrown, where that is why it is a failure. */
  readonly thrown: { readonly error: unknown } | undefined;

  constructor(text: string, options: ToolAnswerOptions = {}) {
    this.text = text;
    this.isError = options.isError ?? false;
    this.childRunId = options.childRunId;
    this.thrown = options.thrown;
  }
}

export interface ToolAnswerOptions {
  readonly isError?: boolean;
  readonly childRunId?: string;
  readonly thrown?: { readonly error: unknown };
}

/** What a subagent gives instead while calls inside its own run wait for approval. */
export class ToolWaiting {
  readonly child: { readonly runId: string; readonly agent: string; readonly state: AgentStateJson } | undefined;

  constructor(child?: ToolWaiting["child"]) {
    this.child = child;
  }
}
