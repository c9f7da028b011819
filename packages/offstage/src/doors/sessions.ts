// "offstage/sessions": the types of a store's options, and of its records of sessions and runs.

export type { BranchOptions } from "../sessions/branch-options.ts";
export type { EncryptedStore, EncryptedStoreOptions } from "../sessions/encrypted-store.ts";
export type { FoundRun } from "../sessions/found-run.ts";
export type { RunInfo, RunStatus, StepRecord } from "../sessions/journal.ts";
export type { SqliteStore, SqliteStoreOptions, StoreOptions } from "../sessions/open-store.ts";
export type { PersistentSessionOptions } from "../sessions/persistent-session.ts";
export type { PruneOptions, PruneReport } from "../sessions/prune.ts";
export type { MessageRedactor } from "../sessions/redaction.ts";
export type { ListedRun, ListRunsOptions } from "../sessions/run-list.ts";
export type { ListSessionsOptions, SessionInfo } from "../sessions/session-list.ts";
export type { Violation } from "../sessions/verify-store.ts";
