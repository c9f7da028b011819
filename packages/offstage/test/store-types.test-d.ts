// The types of stores: every type that a public signature names is exported too.
import { expectTypeOf } from "vitest";
import type {
  EncryptedStoreOptions,
  FoundRun,
  ListRunsOptions,
  ListSessionsOptions,
  PersistentSessionOptions,
  StepRecord,
} from "../src/doors/sessions.ts";
import { encryptedStore, PersistentSession, type Store } from "../src/index.ts";
import type { OpenStep } from "../src/sessions/ports/run-record.ts";
import type { StoredSessions } from "../src/sessions/store.ts";

expectTypeOf<Store["sessions"]>().toEqualTypeOf<StoredSessions>();
expectTypeOf<FoundRun["steps"]>().toEqualTypeOf<readonly StepRecord[]>();
expectTypeOf<NonNullable<FoundRun["openStep"]>>().toEqualTypeOf<OpenStep>();
expectTypeOf<Parameters<StoredSessions["list"]>[0]>().toEqualTypeOf<ListSessionsOptions | undefined>();
expectTypeOf(encryptedStore).parameter(1).toEqualTypeOf<EncryptedStoreOptions>();
expectTypeOf(PersistentSession.persistent).parameter(1).toEqualTypeOf<PersistentSessionOptions | undefined>();

// A limit that may be undefined can be passed on; undefined means no limit.
declare const page: { limit?: number | undefined };
export const options: ListRunsOptions & ListSessionsOptions = { limit: page.limit };
