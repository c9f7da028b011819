// Notes on the tables, and on the columns that need one. They become comments in the database.
import type { RowOf, TableName } from "../../ports/tables.ts";

export interface TableNotes {
  readonly row: string;
  readonly columns?: Readonly<Record<string, string>>;
}

// Notes on columns that do not exist are type errors.
type NotesByTable = {
  readonly [Name in TableName]: {
    readonly row: string;
    readonly columns?: { readonly [Column in keyof RowOf<Name>]?: string };
  };
};

const exact = "JSON: exact values of texts that a column cannot hold";
const costUsd = "fixed when the row was written";

export const tableNotes: Readonly<Record<TableName, TableNotes>> = {
  sessions: {
    row: "A conversation.",
    columns: {
      branched_from: "the session that this one was copied from",
      branched_at: "how many messages were copied",
      activity: "rises with every change of the conversation: the order of sessions",
      version: "changes with every write",
      fence: "rises when another process takes the session over",
      lease_run: "the run that is writing",
      inbox_count: "the number of messages in the inbox",
      stop_requested: "the run that is asked to stop",
      exact,
    },
  },
  messages: {
    row: "A message of either stream.",
    columns: {
      seq: "the order of both streams",
      stream: "said: part of the conversation; done: the work of a run behind it",
      position: "the place in the conversation; null in the stream done",
      provider_parts: "the provider's own parts of a reply, such as signed reasoning",
      fields: "JSON: fields without a column of their own",
      exact,
    },
  },
  runs: {
    row: "A run of an agent. Tokens and cost are its own, without those of its subagents.",
    columns: {
      number: "the order of the runs of a session",
      seq: "the order of the runs of all sessions",
      input_count: "the number of messages the run was started with",
      cost_usd: costUsd,
      status: "running, completed, stopped, failed or waiting; a running one whose process died is interrupted",
      totals: "JSON: tokens and cost together with those of subagents; null if the run has none",
      stop_requested: "why the run was asked to stop",
      exact,
    },
  },
  steps: {
    row: "A step of a run: one model reply, with the results of its tool calls.",
    columns: {
      cost_usd: costUsd,
      input_ref: "the model input: hash of model and tools in contents, then + or messages (#hash, p position, m seq)",
      verdicts: "JSON: the votes of the criteria after the step",
      retries: "JSON: failed attempts of the model call",
      exact,
    },
  },
  tool_calls: {
    row: "A tool call.",
    columns: {
      position: "the place among the calls of the step",
      status: "intended, waiting, ok, error, interrupted or rejected",
      child_run_id: "the run of a subagent",
      result_ref: "the whole result, in contents, if the model got a part of it",
      edited_arguments: "the arguments as a person changed them",
      question: "JSON: the question that the call waits for",
      exact,
    },
  },
  spans: {
    row: "A timed operation. The session is empty for a span that belongs to no run.",
    columns: { start_ms: "milliseconds since 1970, with fractions", exact },
  },
  contents: { row: "A text, a file or a large value, kept once per session.", columns: { exact } },
  inbox: {
    row: "A message that was said while a run works, and waits to join a run.",
    columns: { message: "JSON: the whole message", exact },
  },
  annotations: { row: "Feedback on a run, or on one of its messages.", columns: { by: "who gave it", exact } },
  memories: { row: "A message of a persistent memory.", columns: { exact } },
  namespaces: {
    row: "A tenant, and whether its rows are encrypted.",
    columns: { key_proofs: "JSON: a proof of each encryption key, by key id" },
  },
} satisfies NotesByTable;
