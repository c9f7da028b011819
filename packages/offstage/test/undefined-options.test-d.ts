// Every option may be passed as undefined, also under exactOptionalPropertyTypes: `{ limit: page.limit }` compiles if the page has none.

import type * as criteria from "../src/doors/criteria.ts";
import type * as memory from "../src/doors/memory.ts";
import type * as bpe from "../src/doors/peers/bpe.ts";
import type * as otel from "../src/doors/peers/otel.ts";
import type * as postgres from "../src/doors/peers/postgres.ts";
import type * as redis from "../src/doors/peers/redis.ts";
import type * as query from "../src/doors/query.ts";
import type * as sessions from "../src/doors/sessions.ts";
import type * as drivers from "../src/doors/store-driver.ts";
import type * as tracing from "../src/doors/tracing.ts";
import type * as offstage from "../src/index.ts";
import type { Agent, AgentBuilder, AgentState, TraceContext, TraceSpan } from "../src/index.ts";
import type * as testing from "../src/testing/index.ts";

type IsOptional<T, K extends keyof T> = object extends Pick<T, K> ? true : false;

/** The names of the options of T that refuse undefined. */
type Refused<T> = T extends object
  ? {
      [K in keyof T]-?: IsOptional<T, K> extends true ? (undefined extends Required<T>[K] ? never : K) : never;
    }[keyof T]
  : never;

/** The options of a function: its parameter at this position. */
type OptionsOf<F, Place extends number> = F extends (...args: infer P) => unknown ? P[Place] : never;
/** The options of a class. */
type InitOf<C, Place extends number> = C extends abstract new (...args: infer P) => unknown ? P[Place] : never;

/** Every type of options that a public function takes. */
interface Options {
  agent: offstage.AgentOptions;
  run: offstage.RunOptions;
  resume: offstage.ResumeOptions;
  subagent: offstage.SubagentOptions;
  hooks: offstage.AgentHooks;
  driver: offstage.Driver;
  guardrails: OptionsOf<AgentBuilder["withGuardrails"], 0>;
  verdict: Extract<Awaited<ReturnType<offstage.InputGuardrail["check"]>>, object>;
  decided: Extract<NonNullable<offstage.ResumeOptions["reject"]>[number], object>;
  modelSettings: offstage.ModelSettings;
  retry: NonNullable<offstage.AgentOptions["retry"]>;
  download: OptionsOf<NonNullable<offstage.AgentOptions["download"]>, 1>;
  tool: offstage.ToolOptions<undefined, object>;
  execute: OptionsOf<Agent["execute"], 1>;
  userMessage: OptionsOf<AgentState["withUserMessage"], 1>;
  system: OptionsOf<typeof offstage.system, 1>;
  assistant: OptionsOf<typeof offstage.assistant, 1>;
  toolResult: OptionsOf<typeof offstage.toolResult, 2>;
  parse: OptionsOf<typeof offstage.parseMessages, 1>;
  redactor: OptionsOf<typeof offstage.redactor, 0>;
  tokenCounter: OptionsOf<typeof offstage.tokenCounter, 0>;
  price: offstage.PriceTable[string];
  bpe: bpe.BpeTokenCounterOptions;
  costLimit: OptionsOf<typeof offstage.costLimit, 1>;
  errorPolicy: Exclude<criteria.ErrorPolicy, string>;
  responseContent: OptionsOf<typeof criteria.responseContent, 1>;
  selfCritic: OptionsOf<typeof criteria.selfCritic, 1>;
  criterion: criteria.Criterion;
  criterionVerdict: criteria.Verdict;
  store: sessions.StoreOptions;
  sqlite: sessions.SqliteStoreOptions;
  postgres: postgres.PostgresStoreOptions;
  redis: redis.RedisStoreOptions;
  encrypted: sessions.EncryptedStoreOptions;
  createStore: OptionsOf<typeof drivers.createStore, 1>;
  persistent: sessions.PersistentSessionOptions;
  listRuns: sessions.ListRunsOptions;
  listSessions: sessions.ListSessionsOptions;
  listSpans: OptionsOf<offstage.Store["spans"]["list"], 0>;
  prune: sessions.PruneOptions;
  branch: sessions.BranchOptions;
  readRows: drivers.RowRange;
  row: drivers.Row;
  sessionError: InitOf<typeof offstage.SessionBusyError, 1>;
  error: InitOf<typeof offstage.OffstageError, 2>;
  tracing: tracing.TracingOptions;
  trace: tracing.TraceOptions;
  traceHeaders: OptionsOf<typeof TraceContext.fromHeaders, 1>;
  span: tracing.SpanOptions;
  withSpan: tracing.WithSpanOptions;
  newSpan: InitOf<typeof TraceSpan, 0>;
  batched: tracing.BatchedOptions;
  consoleExporter: OptionsOf<typeof tracing.consoleExporter, 0>;
  jsonlExporter: OptionsOf<typeof tracing.jsonlExporter, 0>;
  memoryExporter: OptionsOf<typeof tracing.memoryExporter, 0>;
  storeExporter: tracing.StoreExporterOptions;
  otelExporter: otel.OtelExporterOptions;
  renderTrace: tracing.RenderTraceOptions;
  renderable: tracing.RenderableTrace;
  bufferedTracer: InitOf<typeof offstage.BufferedTracer, 1>;
  compositeTracer: InitOf<typeof offstage.CompositeTracer, 1>;
  consoleTracer: InitOf<typeof offstage.ConsoleTracer, 0>;
  messageQuery: query.MessageQueryOptions;
  messageCriteria: query.MessageCriteria;
  export: query.ExportOptions;
  exportTo: query.ExportToOptions;
  print: query.PrintOptions;
  printStream: NonNullable<query.PrintOptions["stream"]>;
  conversationMemory: memory.ConversationMemoryOptions;
  slidingWindowMemory: memory.SlidingWindowMemoryOptions;
  summaryMemory: memory.SummaryMemoryOptions;
  hybridMemory: memory.HybridMemoryOptions;
  vectorMemory: memory.VectorMemoryOptions;
  compactor: memory.CompactorOptions;
  compacted: memory.Compacted;
  summary: memory.Summary;
  hybrid: memory.HybridOptions;
  importance: memory.ImportanceOptions;
  pruneToolResults: memory.PruneToolResultsOptions;
  summarizeOlder: memory.SummarizeOlderOptions;
  recall: memory.RecallToolOptions;
  scriptedModel: testing.ScriptedModelOptions;
  scriptedReply: testing.ScriptedReply;
  scriptedToolCall: testing.ScriptedToolCall;
  scriptedUsage: testing.ScriptedUsage;
  checkSpans: testing.CheckSpansOptions;
  crashPoint: testing.CrashPoint;
  memoryContract: testing.MemoryContractOptions;
  storeContract: testing.SessionStoreContractOptions;
}

/** The options that refuse undefined, as "agent.name". */
type Found = {
  [Place in keyof Options]: `${Place}.${Refused<NonNullable<Options[Place]>> & string}`;
}[keyof Options];
export const found: Record<Found, "must take undefined"> = {};

// Checks the checks: each type has options, and an option that refuses undefined is found.
type NamesOf<T> = T extends object ? keyof T : never;
type Empty = { [Place in keyof Options]: [NamesOf<Options[Place]>] extends [never] ? Place : never }[keyof Options];
export const empty: Record<Empty, "has no options"> = {};
export const refused: Refused<{ a?: number; b?: number | undefined; c: string; d?: unknown }> = "a";
