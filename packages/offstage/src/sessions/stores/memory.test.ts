import { test } from "vitest";
import { sessionStoreContract } from "../../testing/session-store-contract.ts";
import { createStore, type Store } from "../store.ts";
import type { StoreDriver } from "../store-driver.ts";
import { memoryDriver } from "./memory.ts";

const places = new WeakMap<Store, StoreDriver>();

function open(driver: StoreDriver = memoryDriver()): Store {
  const store = createStore(driver);
  places.set(store, driver);
  return store;
}

for (const { name, run } of sessionStoreContract(() => open(), { reopen: (store) => open(places.get(store)) })) {
  test(name, run);
}
