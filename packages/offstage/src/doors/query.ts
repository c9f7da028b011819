// "offstage/query": reads exports back, and has the types for criteria, export formats and printing.

export type { ExportFormat, FormatFunction } from "../query/export/export.ts";
export type { ExportToOptions } from "../query/export/export-to.ts";
export type { ExportOptions, ExportView } from "../query/export/export-view.ts";
export type { ExportedMessage } from "../query/export/exported-message.ts";
export { fromExport } from "../query/export/from-export.ts";
export type { MessageCriteria, MessagePredicate } from "../query/filter.ts";
export type { MessageQueryOptions, MessageSource } from "../query/message-query.ts";
export type { PrintOptions } from "../query/print.ts";
export type { RunSummary } from "../query/run-summary.ts";
export type { ToolCallRecord } from "../query/tool-calls.ts";
export type { SubagentTurn, TurnItem } from "../query/turn.ts";
