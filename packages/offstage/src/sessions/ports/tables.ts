// The schema of the record, as data: tables, columns, keys and orders. SQL back ends make their statements from it, and their
// comments from its notes; others keep the same rows as objects with the same names.

/** The most bytes of an id. */
export const longestId = 512;

/** "json" is text that parses as JSON; "time" is ISO 8601 text with milliseconds. */
export type ColumnType = "text" | "json" | "integer" | "real" | "boolean" | "time";

/** The kind of a column: its type, with "?" if it may be null; "sealed" if it is encrypted in an encrypted store. */
type ColumnKind = ColumnType | `${ColumnType}?` | "sealed text" | "sealed json";

/** A column in words: its kind, and a note for those who read the database, if it needs one. */
type ColumnWords = ColumnKind | `${ColumnKind}: ${string}`;

export interface Column {
  readonly type: ColumnType;
  /** The column may be null. */
  readonly isOptional: boolean;
  /** The column is encrypted in an encrypted store. It may be null too. */
  readonly isSealed: boolean;
  readonly note?: string | undefined;
}

/**
 * An order of rows. Rows are found by the columns of `scope`, all of them, and are ordered by the columns of `by`; rows that are
 * equal in these are ordered by their key. A row in which one of these columns is null is not part of the order.
 */
export interface Order {
  readonly scope: readonly string[];
  readonly by: readonly string[];
}

export interface Table {
  /** The meaning of a row. */
  readonly note: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** The primary key. */
  readonly key: Order;
  /** Further orders; SQL back ends make an index for each. */
  readonly orders: Readonly<Record<string, Order>>;
}

/**
 * All tables. Every key starts with the namespace; the rows of a session also share its id, so that they can be removed together.
 * `exact` holds the exact values of texts that a back end cannot store as they are (see head/namespace-rows.ts).
 */
export const schema = {
  sessions: {
    note: "A conversation.",
    columns: {
      namespace: "text",
      session_id: "text",
      title: "sealed text",
      metadata: "sealed json",
      created_at: "time",
      updated_at: "time",
      message_count: "integer",
      run_count: "integer",
      last_agent: "text?",
      last_status: "text?",
      branched_from: "text?: the session that this one was copied from",
      branched_at: "integer?: how many messages were copied",
      activity: "integer: rises with every change of the conversation: the order of sessions",
      next_seq: "integer",
      next_position: "integer",
      next_run: "integer",
      version: "text: changes with every write, and names the latest write of each writer",
      fence: "integer: rises when another process takes the session over",
      lease_run: "text?: the run that is writing",
      lease_holder: "text?",
      lease_seen: "integer?",
      waiting_holder: "text?",
      waiting_seen: "integer?",
      inbox_count: "integer: the number of messages in the inbox",
      stop_requested: "text?: the run that is asked to stop",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: [] },
    orders: { activity: { scope: ["namespace"], by: ["activity"] } },
  },
  messages: {
    note: "A message of either stream.",
    columns: {
      namespace: "text",
      session_id: "text",
      seq: "integer: the order of both streams",
      stream: "text: said: part of the conversation; done: the work of a run behind it",
      position: "integer?: the place in the conversation; null in the stream done",
      run_id: "text?",
      step: "integer?",
      agent: "text?",
      message_id: "text?",
      role: "text",
      content: "sealed text",
      parts: "sealed json",
      tool_calls: "sealed json",
      tool_call_id: "text?",
      tool_name: "text?",
      is_error: "boolean",
      created_at: "time",
      metadata: "sealed json",
      provider_parts: "sealed json: the provider's own parts of a reply, such as signed reasoning",
      fields: "sealed json: JSON: fields without a column of their own",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: ["seq"] },
    orders: {
      said: { scope: ["namespace", "session_id"], by: ["position"] },
      run: { scope: ["namespace", "session_id"], by: ["run_id", "seq"] },
    },
  },
  runs: {
    note: "A run of an agent. Tokens and cost are its own, without those of its subagents.",
    columns: {
      namespace: "text",
      session_id: "text",
      number: "integer: the order of the runs of a session",
      run_id: "text",
      seq: "integer: the order of the runs of all sessions",
      parent_run_id: "text?",
      parent_tool_call_id: "text?",
      root_run_id: "text?",
      forked_from: "text?",
      agent: "text",
      model: "text?",
      provider: "text?",
      status: "text: running, completed, stopped, failed or waiting; a running one whose process died is interrupted",
      reason: "text?",
      input_count: "integer: the number of messages the run was started with",
      step_count: "integer",
      error_count: "integer: the number of tool calls that failed",
      input_tokens: "integer?",
      output_tokens: "integer?",
      total_tokens: "integer?",
      cached_tokens: "integer?",
      cache_write_tokens: "integer?",
      reasoning_tokens: "integer?",
      cost_usd: "real?: fixed when the row was written",
      totals: "json?: JSON: tokens and cost together with those of subagents; null if the run has none",
      started_at: "time",
      ended_at: "time?",
      duration_ms: "real?",
      trace_id: "text?: the trace in which it began; a resumed run goes on in another",
      stop_requested: "text?: why the run was asked to stop",
      error: "sealed json",
      notes: "sealed json",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: ["number"] },
    orders: {
      id: { scope: ["namespace", "run_id"], by: [] },
      started: { scope: ["namespace"], by: ["seq"] },
      parent: { scope: ["namespace", "session_id"], by: ["parent_run_id", "number"] },
    },
  },
  steps: {
    note: "A step of a run: one model reply, with the results of its tool calls.",
    columns: {
      namespace: "text",
      session_id: "text",
      run_id: "text",
      step: "integer",
      agent: "text",
      model: "text?",
      provider: "text?",
      finish_reason: "text?",
      input_tokens: "integer?",
      output_tokens: "integer?",
      total_tokens: "integer?",
      cached_tokens: "integer?",
      cache_write_tokens: "integer?",
      reasoning_tokens: "integer?",
      cost_usd: "real?: fixed when the row was written",
      started_at: "time",
      duration_ms: "real",
      input_ref:
        "text?: the model input: hash of model and tools in contents, then + or messages (#hash, p position, m seq)",
      verdicts: "sealed json: JSON: the votes of the criteria after the step",
      retries: "sealed json: JSON: failed attempts of the model call",
      notes: "sealed json",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: ["run_id", "step"] },
    orders: {},
  },
  tool_calls: {
    note: "A tool call.",
    columns: {
      namespace: "text",
      session_id: "text",
      run_id: "text",
      step: "integer",
      position: "integer: the place among the calls of the step",
      call_id: "text",
      tool: "text",
      agent: "text",
      model: "text?",
      arguments: "sealed text",
      status: "text: intended, waiting, ok, error, interrupted or rejected",
      started_at: "time",
      duration_ms: "real?",
      child_run_id: "text?: the run of a subagent",
      result_ref: "text?: the whole result, in contents, if the model got a part of it",
      edited_arguments: "sealed text: the arguments as a person changed them",
      question: "sealed json: JSON: the question that the call waits for",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: ["run_id", "step", "position"] },
    orders: {},
  },
  spans: {
    note: "A timed operation. The session is empty for a span that belongs to no run.",
    columns: {
      namespace: "text",
      session_id: "text",
      run_id: "text",
      trace_id: "text",
      span_id: "text",
      parent_span_id: "text?",
      parent_is_remote: "boolean",
      name: "text",
      kind: "text",
      status: "text",
      started_at: "time",
      start_ms: "real: milliseconds since 1970, with fractions",
      duration_ms: "real?",
      trace_name: "text?",
      group_id: "text?",
      metadata: "sealed json",
      content: "sealed json",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: ["run_id", "start_ms", "span_id"] },
    orders: { trace: { scope: ["namespace", "trace_id"], by: ["start_ms"] } },
  },
  contents: {
    note: "A text, a file or a large value, kept once per session.",
    columns: {
      namespace: "text",
      session_id: "text",
      hash: "text",
      content: "sealed text",
      bytes: "integer",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: ["hash"] },
    orders: {},
  },
  inbox: {
    note: "A message that was said while a run works, and waits to join a run.",
    columns: {
      namespace: "text",
      session_id: "text",
      seq: "integer",
      content: "sealed text",
      message: "sealed json: JSON: the whole message",
      created_at: "time",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: ["seq"] },
    orders: {},
  },
  annotations: {
    note: "Feedback on a run, or on one of its messages.",
    columns: {
      namespace: "text",
      session_id: "text",
      seq: "integer",
      run_id: "text",
      message_id: "text?",
      label: "text",
      value: "sealed json",
      note: "sealed text",
      by: "text?: who gave it",
      created_at: "time",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "session_id"], by: ["seq"] },
    orders: { run: { scope: ["namespace", "session_id"], by: ["run_id", "seq"] } },
  },
  memories: {
    note: "A message of a persistent memory.",
    columns: {
      namespace: "text",
      memory_id: "text",
      seq: "integer",
      role: "text",
      content: "sealed text",
      message: "sealed json",
      created_at: "time",
      exact: "sealed json: JSON: exact values of texts that a column cannot hold",
    },
    key: { scope: ["namespace", "memory_id"], by: ["seq"] },
    orders: { all: { scope: ["namespace"], by: ["seq"] } },
  },
  namespaces: {
    note: "A tenant, and whether its rows are encrypted.",
    columns: {
      namespace: "text",
      is_sealed: "boolean",
      key_proofs: "json?: JSON: a proof of each encryption key, by key id",
      created_at: "time",
    },
    key: { scope: ["namespace"], by: [] },
    orders: {},
  },
} as const;

export type TableName = keyof typeof schema;

interface TableWords extends Omit<Table, "columns"> {
  readonly columns: Readonly<Record<string, ColumnWords>>;
}

/** All tables, for makers of statements. */
export const tables: Readonly<Record<TableName, Table>> = Object.fromEntries(
  Object.entries<TableWords>(schema).map(([name, { columns, ...table }]) => {
    const described = Object.entries(columns).map(([column, words]) => [column, columnOf(words)]);
    return [name, { ...table, columns: Object.fromEntries(described) }];
  }),
) as Record<TableName, Table>;

function columnOf(words: ColumnWords): Column {
  const [, sealed, type, isOptional, note] = /^(sealed )?(\w+)(\?)?(?:: (.*))?$/.exec(words) ?? [];
  const isSealed = sealed !== undefined;
  return { type: type as ColumnType, isSealed, isOptional: isSealed || isOptional !== undefined, note };
}

type Values = { text: string; json: string; time: string; integer: number; real: number; boolean: boolean };

type ValueOf<Words> = Words extends `${infer Kind}: ${string}`
  ? ValueOf<Kind>
  : Words extends `sealed ${string}`
    ? string | null
    : Words extends `${infer Type extends ColumnType}?`
      ? Values[Type] | null
      : Words extends ColumnType
        ? Values[Words]
        : never;

/** A row of a table: one value for each column. */
export type RowOf<Name extends TableName> = {
  readonly [Key in keyof (typeof schema)[Name]["columns"]]: ValueOf<(typeof schema)[Name]["columns"][Key]>;
};

export type SessionRow = RowOf<"sessions">;
export type MessageRow = RowOf<"messages">;
export type RunRow = RowOf<"runs">;
export type StepRow = RowOf<"steps">;
export type ToolCallRow = RowOf<"tool_calls">;
export type SpanRow = RowOf<"spans">;
export type InboxRow = RowOf<"inbox">;
export type AnnotationRow = RowOf<"annotations">;
export type MemoryRow = RowOf<"memories">;
export type NamespaceRow = RowOf<"namespaces">;

/** The name of an order of a table; without one, the key. */
export type OrderName<Name extends TableName> = Extract<keyof (typeof schema)[Name]["orders"], string>;
