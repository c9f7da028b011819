// "offstage/sessions": the types of a store's options, and of its records of sessions and runs.

export type { BranchOptions } from "../sessions/conversation/branch.ts";
export type { EncryptedStore, EncryptedStoreOptions } from "../sessions/encrypted-store.ts";
export type { SqliteStore, SqliteStoreOptions, StoreOptions } from "../sessions/open-store.ts";
export type { PersistentSessionOptions } from "../sessions/persistent-session.ts";
export type { RunInfo, RunStatus, StepRecord } from "../sessions/ports/run-record.ts";
export type { SentMessage } from "../sessions/ports/session.ts";
export type { Annotation, NewAnnotation } from "../sessions/records/annotations.ts";
export type { InputChanges, RecordedInput } from "../sessions/records/model-input.ts";
export type { PruneOptions, PruneReport } from "../sessions/records/prune.ts";
export type { ListedRun, ListRunsOptions } from "../sessions/records/run-list.ts";
export type { FoundRun } from "../sessions/records/run-reader.ts";
export type { Dimension, GroupNumbers, Numbers, NumbersOptions } from "../sessions/records/search/numbers.ts";
export type { FoundMessage, SearchOptions } from "../sessions/records/search/search.ts";
export type { StoreQueryOptions } from "../sessions/records/search/store-query.ts";
export type { Description, ListSessionsOptions, SessionInfo } from "../sessions/records/session-list.ts";
export type { StopRunOptions } from "../sessions/records/stop-run.ts";
export type { VerifyOptions, Violation } from "../sessions/records/verify.ts";
export type { MessageRedactor } from "../sessions/rows/redaction.ts";
