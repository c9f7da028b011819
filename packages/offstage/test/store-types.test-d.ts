// What the types say of stores: whatever a public signature names has a name at the front door too.
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
import type { OpenStep } from "../src/sessions/journal.ts";
import type { StoredSessions } from "../src/sessions/store.ts";

expectTypeOf<Store["sessions"]>().toEqualTypeOf<StoredSessions>();
expectTypeOf<FoundRun["steps"]>().toEqualTypeOf<readonly StepRecord[]>();
expectTypeOf<NonNullable<FoundRun["openStep"]>>().toEqualTypeOf<OpenStep>();
expectTypeOf<Parameters<StoredSessions["list"]>[0]>().toEqualTypeOf<ListSessionsOptions | undefined>();
expectTypeOf(encryptedStore).parameter(1).toEqualTypeOf<EncryptedStoreOptions>();
expectTypeOf(PersistentSession.persistent).parameter(1).toEqualTypeOf<PersistentSessionOptions | undefined>();

// A limit that may be undefined is passed on as it is: undefined is all.
declare const page: { limit?: number | undefined };
export const options: ListRunsOptions & ListSessionsOptions = { limit: page.limit };
