// The sign of life of a worker: an advisory lock of Postgres, held by a connection of its own. The database drops it when the
// process or its machine dies. No clock is involved.
import { setTimeout as sleep } from "node:timers/promises";
import { connectPg, type PgClient } from "./sdk.ts";

export interface SignOfLife {
  /** Whether the worker with this id gives a sign of life. Rejects if the database cannot be asked. */
  isAlive(workerId: string): Promise<boolean>;
  stop(): Promise<void>;
}

const lockOf = "hashtextextended('offstage worker ' || $1, 0)";

/** Gives the sign of life of `workerId` until stopped, and renews it after the database was gone. */
export async function giveSignOfLife(url: string, workerId: string): Promise<SignOfLife> {
  let isStopped = false;
  let client = await hold(url, workerId, () => void renew());
  const renew = async (): Promise<void> => {
    while (!isStopped) {
      try {
        client = await hold(url, workerId, () => void renew());
        return;
      } catch {
        await sleep(250, undefined, { ref: false });
      }
    }
  };
  return {
    async isAlive(other) {
      const { rows } = await client.query(
        `SELECT CASE WHEN pg_try_advisory_lock(${lockOf}) THEN NOT pg_advisory_unlock(${lockOf}) ELSE true END AS alive`,
        [other],
      );
      return rows[0]?.alive === true;
    },
    async stop() {
      isStopped = true;
      await client.end().catch(() => {});
    },
  };
}

async function hold(url: string, workerId: string, onLost: () => void): Promise<PgClient> {
  const client = await connectPg(url);
  let isHeld = false;
  client.on("error", () => {});
  client.on("end", () => {
    if (isHeld) onLost();
  });
  await client.connect();
  await client.query(`SELECT pg_advisory_lock(${lockOf})`, [workerId]);
  isHeld = true;
  return client;
}
