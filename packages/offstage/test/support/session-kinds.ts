// Plays a scenario on every kind of session, with `run` and with `stream`, and verifies the store afterwards.
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

/** Tests one claim on an in-memory session, on a memory store and on SQLite. */
export function onSessions(claim: string, act: (scene: SessionScene) => Promise<void>): void {
  bothWays(`${claim}, on an in-memory session`, (scene) => act({ ...scene, session: new InMemorySession("s") }));
  onStores(claim, act);
}

/** Tests one claim on a memory store and on SQLite. */
export function onStores(claim: string, act: (scene: StoreScene) => Promise<void>): void {
  const kinds = { "a memory store": memoryStore, SQLite: () => sqliteStore({ path: ":memory:" }) };
  for (const [name, open] of Object.entries(kinds)) {
    bothWays(`${claim}, on ${name}`, async (scene) => {
      await using store = open();
      await act({ ...scene, store, session: await PersistentSession.on(store, "s") });
      expect(await store.verify()).toEqual([]);
    });
  }
}
