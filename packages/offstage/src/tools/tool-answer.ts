// Special results of a tool: a ready-made answer, and a call that waits.
import type { AgentStateJson, AskedQuestion, RecordedAnswer } from "../state/pending-step.ts";

/** An answer that the model is shown word for word; the tool says itself whether it is a failure. */
export class ToolAnswer {
  readonly text: string;
  /** A value that is shown like that of any tool, instead of the text. */
  readonly value: unknown;
  readonly isError: boolean;
  /** The run of the subagent that gave it. */
  readonly childRunId: string | undefined;
  /** The error behind a failure, if one was thrown. */
  readonly thrown: { readonly error: unknown } | undefined;

  constructor(text: string, options: ToolAnswerOptions = {}) {
    this.text = text;
    this.value = options.value ?? text;
    this.isError = options.isError ?? false;
    this.childRunId = options.childRunId;
    this.thrown = options.thrown;
  }
}

export interface ToolAnswerOptions {
  readonly value?: unknown;
  readonly isError?: boolean | undefined;
  readonly childRunId?: string | undefined;
  readonly thrown?: { readonly error: unknown } | undefined;
}

export interface ToolWaitingOptions {
  /** The run of the subagent in which calls wait. */
  readonly child?: { readonly runId: string; readonly agent: string; readonly state: AgentStateJson } | undefined;
  /** The question that waits for an answer. */
  readonly question?: AskedQuestion | undefined;
  /** The answers to the questions before it. */
  readonly answers?: readonly RecordedAnswer[] | undefined;
}

/** A call that waits for a person: for approval, for an answer, or because calls of its subagent wait. */
export class ToolWaiting {
  readonly child: ToolWaitingOptions["child"];
  readonly question: AskedQuestion | undefined;
  readonly answers: readonly RecordedAnswer[];

  constructor({ child, question, answers = [] }: ToolWaitingOptions = {}) {
    this.child = child;
    this.question = question;
    this.answers = answers;
  }
}
