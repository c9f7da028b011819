// The schema of the record, as data: tables, columns, keys and orders. SQL back ends make their statements from it; others keep
// the same rows as objects with the same names. What columns mean is in drivers/sql/table-notes.ts.

/** "json" is text that parses as JSON; "time" is ISO 8601 text with milliseconds. */
export type ColumnType = "text" | "json" | "integer" | "real" | "boolean" | "time";

/** A column in words: its type, with "?" if it may be null; "sealed" if it is encrypted in an encrypted store. */
type ColumnWords = ColumnType | `${ColumnType}?` | "sealed text" | "sealed json";

export interface Column {
  readonly type: ColumnType;
  /** The column may be null. */
  readonly isOptional: boolean;
  /** The column is encrypted in an encrypted store. It may be null too. */
  readonly isSealed: boolean;
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
  readonly columns: Readonly<Record<string, Column>>;
  /** The primary key. */
  readonly key: Order;
  /** Further orders; SQL back ends make an index for each. */
  readonly orders: Readonly<Record<string, Order>>;
}

/**
 * All tables. Every key starts with the namespace; the rows of a session also share its id, so that they can be removed together.
 * `exact` holds the exact values of texts that a back end cannot store as they are (see rows/check-row.ts).
 */
export const schema = {
  /** A conversation. */
  sessions: {
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
      branched_from: "text?",
      branched_at: "integer?",
      /** The store's number of the last change of the conversation: the order of sessions. */
      activity: "integer",
      next_seq: "integer",
      next_position: "integer",
      next_run: "integer",
      /** Changes with every write, and names the latest write of each writer. */
      version: "text",
      fence: "integer",
      lease_run: "text?",
      lease_holder: "text?",
      lease_seen: "integer?",
      waiting_holder: "text?",
      waiting_seen: "integer?",
      /** The number of messages in the inbox. */
      inbox_count: "integer",
      /** The run that holds the session and is asked to stop. */
      stop_requested: "text?",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: [] },
    orders: { activity: { scope: ["namespace"], by: ["activity"] } },
  },
  /** One message of either stream. */
  messages: {
    columns: {
      namespace: "text",
      session_id: "text",
      seq: "integer",
      /** "said": part of the conversation. "done": what a run did to say it. */
      stream: "text",
      position: "integer?",
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
      provider_parts: "sealed json",
      fields: "sealed json",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: ["seq"] },
    orders: {
      said: { scope: ["namespace", "session_id"], by: ["position"] },
      run: { scope: ["namespace", "session_id"], by: ["run_id", "seq"] },
    },
  },
  /** One run of an agent. Tokens and cost are its own, without those of its subagents. */
  runs: {
    columns: {
      namespace: "text",
      session_id: "text",
      number: "integer",
      run_id: "text",
      /** The store's number of the start: the order of runs of all sessions. */
      seq: "integer",
      parent_run_id: "text?",
      parent_tool_call_id: "text?",
      root_run_id: "text?",
      forked_from: "text?",
      agent: "text",
      model: "text?",
      provider: "text?",
      status: "text",
      reason: "text?",
      input_count: "integer",
      step_count: "integer",
      /** The number of tool calls that failed. */
      error_count: "integer",
      input_tokens: "integer?",
      output_tokens: "integer?",
      total_tokens: "integer?",
      cached_tokens: "integer?",
      cache_write_tokens: "integer?",
      reasoning_tokens: "integer?",
      cost_usd: "real?",
      totals: "json?",
      started_at: "time",
      ended_at: "time?",
      duration_ms: "real?",
      trace_id: "text?",
      stop_requested: "text?",
      error: "sealed json",
      notes: "sealed json",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: ["number"] },
    orders: {
      id: { scope: ["namespace", "run_id"], by: [] },
      started: { scope: ["namespace"], by: ["seq"] },
      parent: { scope: ["namespace", "session_id"], by: ["parent_run_id", "number"] },
    },
  },
  /** One model reply with the results of its calls. */
  steps: {
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
      cost_usd: "real?",
      started_at: "time",
      duration_ms: "real",
      /** The model input of the step (see records/model-input.ts). */
      input_ref: "text?",
      verdicts: "sealed json",
      retries: "sealed json",
      notes: "sealed json",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: ["run_id", "step"] },
    orders: {},
  },
  /** One tool call. */
  tool_calls: {
    columns: {
      namespace: "text",
      session_id: "text",
      run_id: "text",
      step: "integer",
      position: "integer",
      call_id: "text",
      tool: "text",
      agent: "text",
      model: "text?",
      arguments: "sealed text",
      status: "text",
      started_at: "time",
      duration_ms: "real?",
      child_run_id: "text?",
      /** The hash of the whole result in `contents`, if it was clipped for the model. */
      result_ref: "text?",
      edited_arguments: "sealed text",
      question: "sealed json",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: ["run_id", "step", "position"] },
    orders: {},
  },
  /** One timed operation. `session_id` is empty for a span that belongs to no run. */
  spans: {
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
      start_ms: "real",
      duration_ms: "real?",
      trace_name: "text?",
      group_id: "text?",
      metadata: "sealed json",
      content: "sealed json",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: ["run_id", "start_ms", "span_id"] },
    orders: { trace: { scope: ["namespace", "trace_id"], by: ["start_ms"] } },
  },
  /** A text, a file or a large value, kept once per session by its hash. */
  contents: {
    columns: {
      namespace: "text",
      session_id: "text",
      hash: "text",
      content: "sealed text",
      bytes: "integer",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: ["hash"] },
    orders: {},
  },
  /** A message that was said while a run works, and has not joined a run yet. */
  inbox: {
    columns: {
      namespace: "text",
      session_id: "text",
      seq: "integer",
      content: "sealed text",
      message: "sealed json",
      created_at: "time",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: ["seq"] },
    orders: {},
  },
  /** Feedback on a run or on one of its messages. */
  annotations: {
    columns: {
      namespace: "text",
      session_id: "text",
      seq: "integer",
      run_id: "text",
      message_id: "text?",
      label: "text",
      value: "sealed json",
      note: "sealed text",
      by: "text?",
      created_at: "time",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "session_id"], by: ["seq"] },
    orders: { run: { scope: ["namespace", "session_id"], by: ["run_id", "seq"] } },
  },
  /** One message of a persistent memory. */
  memories: {
    columns: {
      namespace: "text",
      memory_id: "text",
      seq: "integer",
      role: "text",
      content: "sealed text",
      message: "sealed json",
      created_at: "time",
      exact: "sealed json",
    },
    key: { scope: ["namespace", "memory_id"], by: ["seq"] },
    orders: { all: { scope: ["namespace"], by: ["seq"] } },
  },
  /** A tenant, and whether its rows are encrypted. */
  namespaces: {
    columns: {
      namespace: "text",
      is_sealed: "boolean",
      key_proofs: "json?",
      created_at: "time",
    },
    key: { scope: ["namespace"], by: [] },
    orders: {},
  },
} as const;

export type TableName = keyof typeof schema;

/** All tables, for makers of statements. */
export const tables: Readonly<Record<TableName, Table>> = Object.fromEntries(
  Object.entries(schema).map(([name, { columns, key, orders }]) => [
    name,
    {
      columns: Object.fromEntries(
        Object.entries<ColumnWords>(columns).map(([column, words]): [string, Column] => [column, columnOf(words)]),
      ),
      key,
      orders,
    },
  ]),
) as unknown as Readonly<Record<TableName, Table>>;

function columnOf(words: ColumnWords): Column {
  const isSealed = words.startsWith("sealed ");
  const type = words.replace(/^sealed |\?$/g, "") as ColumnType;
  return { type, isSealed, isOptional: isSealed || words.endsWith("?") };
}

type Values = { text: string; json: string; time: string; integer: number; real: number; boolean: boolean };

type ValueOf<Words> = Words extends `sealed ${string}`
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
