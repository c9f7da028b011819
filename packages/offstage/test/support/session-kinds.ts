// Plays a scenario on every kind of session, by `run` and by `stream`, and checks the store after it.
import { expect } from "vitest";
import { InMemorySession, memoryStore, PersistentSession, type Store, sqliteStore } from "../../src/index.ts";
import { bothWays, type Scene } from "./both-ways.ts";

export interface SessionScene extends Scene {
  readonly session: InMemorySession | PersistentSession;
}

export interface StoreScene extends Scene {
  readonly store: Store;
  readonly session: PersistentSession;
}

/** One claim on sessions in memory, in a memory store and in SQLite. */
export function onSessions(claim: string, act: (scene: SessionScene) => Promise<void>): void {
  bothWays(`${claim}, in memory`, (scene) => act({ ...scene, session: new InMemorySession("s") }));
  onStores(claim, act);
}

/** One claim on a memory store and on SQLite. */
export function onStores(claim: string, act: (scene: StoreScene) => Promise<void>): void {
  const kinds = { "memory store": memoryStore, SQLite: () => sqliteStore({ path: ":memory:" }) };
  for (const [name, open] of Object.entries(kinds)) {
    bothWays(`${claim}, ${name}`, async (scene) => {
      await using store = open();
      await act({ ...scene, store, session: await PersistentSession.on(store, "s") });
      expect(await store.verify()).toEqual([]);
    });
  }
}
