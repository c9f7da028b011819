// What every store promises, as cases: sessions, namespaces, lists, and the journal of runs. Drivers pass it through `createStore`.
import type { Store } from "../sessions/store.ts";
import { type Claim, type ContractCase, caseOn } from "./contract-case.ts";
import { sessionContract } from "./session-contract.ts";
import { journalClaims } from "./store-claims/journal.ts";
import { leaseClaims } from "./store-claims/leases.ts";
import { listClaims } from "./store-claims/lists.ts";
import { resumeClaims } from "./store-claims/resume.ts";
import { type SharedClaim, sharedClaims } from "./store-claims/shared.ts";

export interface SessionStoreContractOptions {
  /** Opens the same place as the given store once more, as another process would. Adds the cases that need it. */
  readonly reopen?: (store: Store) => Store | Promise<Store>;
}

/**
 * The cases every store passes. `open` gives a new, empty store each time; each case closes what it opened. Stores on one
 * server are to be kept apart by their place (a file, a prefix, a database), not by namespace: one case is about namespaces.
 * `for (const { name, run } of sessionStoreContract(open)) test(name, run)` is all a driver's test needs.
 */
export function sessionStoreContract(
  open: () => Store | Promise<Store>,
  options: SessionStoreContractOptions = {},
): ContractCase[] {
  const { reopen } = options;
  const claims = [...listClaims, ...journalClaims, ...leaseClaims, ...resumeClaims];
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

// A session that takes its store with it, so that a case closes both.
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
