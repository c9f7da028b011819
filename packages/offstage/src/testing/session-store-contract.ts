// The contract of a store, as cases: sessions, namespaces, lists, the journal, and reading across sessions. Test a driver with `createStore(driver)`.
import { checkOptions, checkRequired, someFunction } from "../base/options.ts";
import type { Store } from "../sessions/store.ts";
import { type Claim, type ContractCase, caseOn } from "./contract-case.ts";
import { sessionContract } from "./session-contract.ts";
import { journalClaims } from "./store-claims/journal.ts";
import { leaseClaims } from "./store-claims/leases.ts";
import { listClaims } from "./store-claims/lists.ts";
import { peopleClaims } from "./store-claims/people.ts";
import { recordClaims } from "./store-claims/record.ts";
import { resumeClaims } from "./store-claims/resume.ts";
import { searchClaims } from "./store-claims/search.ts";
import { type SharedClaim, sharedClaims } from "./store-claims/shared.ts";

export interface SessionStoreContractOptions {
  /** Opens the place of the given store a second time, as another process would. Adds the cases that need two stores. */
  readonly reopen?: ((store: Store) => Store | Promise<Store>) | undefined;
}

/**
 * The cases that every store must pass. `open` returns a new, empty store each time; each case closes what it opened. On a shared
 * server, separate the stores by file, prefix or database, not by namespace: one case tests namespaces. Usage:
 * `for (const { name, run } of sessionStoreContract(open)) test(name, run)`.
 */
export function sessionStoreContract(
  open: () => Store | Promise<Store>,
  options: SessionStoreContractOptions = {},
): ContractCase[] {
  checkRequired("open", open, someFunction);
  checkOptions(options, { reopen: someFunction }, "sessionStoreContract()");
  const { reopen } = options;
  const claims = [
    ...[...listClaims, ...journalClaims, ...leaseClaims, ...peopleClaims, ...resumeClaims],
    ...[...recordClaims, ...searchClaims],
  ];
  return [
    ...sessionContract(async () => ownSession(await open())),
    ...claims.map((claim) => caseOn(open, claim)),
    ...(reopen === undefined ? [] : sharedClaims.map((claim) => caseOn(open, onTwo(claim, reopen)))),
  ];
}

function onTwo({ name, claim }: SharedClaim, reopen: (store: Store) => Store | Promise<Store>): Claim<Store> {
  return {
    name,
    async claim(store) {
      const other = await reopen(store);
      try {
        await claim(store, other);
      } finally {
        await other.close();
      }
    },
  };
}

// A session that closes its store too.
function ownSession(store: Store): ReturnType<Store["session"]> {
  const session = store.session("contract");
  return new Proxy(session, {
    get(target, name) {
      if (name === "close") return () => store.close();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
