// The contract of a store, on all four stores. Drivers are tested directly beside their sources.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import { memoryStore, postgresStore, redisStore, sqliteStore } from "../../src/sessions/open-store.ts";
import { createStore, type Store } from "../../src/sessions/store.ts";
import { sessionStoreContract } from "../../src/testing/session-store-contract.ts";
import { startPostgres } from "../servers/postgres-server.ts";
import { startRedis } from "../servers/redis-server.ts";

const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
const folder = mkdtempSync(join(tmpdir(), "offstage-stores-"));

afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the contract on stores that `open` makes, each at a place of its own. */
function onPlaces<Place>(open: (place: Place) => Store, newPlace: () => Place): void {
  const places = new WeakMap<Store, Place>();
  const openAt = (place: Place): Store => {
    const store = open(place);
    places.set(store, place);
    return store;
  };
  const reopen = (store: Store) => openAt(places.get(store) as Place);
  for (const { name, run } of sessionStoreContract(() => openAt(newPlace()), { reopen })) test(name, run);
}

let count = 0;
const newName = (): string => `s${process.pid}_${++count}`;

describe("memory", () => onPlaces((driver) => createStore(driver), memoryDriver));

describe("memoryStore()", () => {
  for (const { name, run } of sessionStoreContract(() => memoryStore())) test(name, run);
});

describe("SQLite", () =>
  onPlaces(
    (path) => sqliteStore({ path }),
    () => join(folder, `${newName()}.db`),
  ));

describe.runIf(postgres)("Postgres", () =>
  onPlaces((schema) => postgresStore({ url: postgres?.url ?? "", schema, maxConnections: 4 }), newName),
);

describe.runIf(redis)("Redis", () => onPlaces((prefix) => redisStore({ url: redis?.url ?? "", prefix }), newName));
