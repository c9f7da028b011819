// The limits that Offstage keeps: data only. A limit with a unit such as "x pi" is a ratio to another figure of the same run.

export const LIMITS = {
  step: { promise: "step, tracing off", limit: 1, unit: "x pi" },
  stepGrowth: { promise: "step at K=10,000 against K=100", limit: 2, unit: "x" },
  tracing: { promise: "step, tracing on against off", limit: 3, unit: "x" },
  heap: { promise: "heap kept after 1,000 traced steps", limit: 4, unit: "MB" },
  durableTurn10: { promise: "durable turn 10", limit: 1 / 3, unit: "x next peer" },
  durableTurn200: { promise: "durable turn 200", limit: 1 / 15, unit: "x next peer" },
  durableGrowth: { promise: "last durable turn against turn 10", limit: 1.3, unit: "x" },
  digestGrowth: { promise: "durable turn 1,000 against turn 10, with tool history", limit: 1.3, unit: "x" },
  file: { promise: "file after 200 turns", limit: 1.5, unit: "MB" },
  delta: { promise: "text delta, over the source", limit: 1.5, unit: "µs" },
  import: { promise: "import of offstage, over bare Node", limit: 30, unit: "ms" },
  packages: { promise: "installed packages", limit: 1, unit: "" },
  megabytes: { promise: "installed size", limit: 2, unit: "MB" },
  span: { promise: "withSpan, in memory", limit: 0.5, unit: "x OTel batch" },
  queryGrowth: { promise: "time per message, largest size against the one before", limit: 2, unit: "x" },
  recordList: { promise: "list of 50 sessions, 100,000 messages on SQLite", limit: 20, unit: "ms" },
  recordSearch: { promise: "search by text, 100,000 messages on SQLite", limit: 100, unit: "ms" },
  recordNumbers: { promise: "numbers by day and agent, 100,000 messages on SQLite", limit: 300, unit: "ms" },
  recordPostgres: { promise: "the same over 1,000,000 messages on Postgres, worst", limit: 3, unit: "x limit" },
  queryFilter: { promise: "filter by text", limit: 1.3, unit: "x loop" },
};
