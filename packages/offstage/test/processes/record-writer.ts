// A process that records runs in an encrypted store until its input ends, by a clock of its own. Prints each run when it is acknowledged.
import { setTimeout as sleep } from "node:timers/promises";
import { encryptedStore } from "../../src/sessions/encrypted-store.ts";
import type { EncryptionOptions } from "../../src/sessions/encryption/sealer.ts";
import { openStore } from "../../src/sessions/open-store.ts";
import { recordRun } from "../../src/testing/store-claims/recorded-run.ts";

export interface RecordWriterOptions {
  readonly url: string;
  readonly name: string;
  /** How far its clock is ahead. */
  readonly shiftMs: number;
  /** Sessions that it shares with others. It also begins new ones. */
  readonly sessions: readonly string[];
  readonly encryption: EncryptionOptions;
}

const { url, name, shiftMs, sessions, encryption } = JSON.parse(process.argv[2] ?? "{}") as RecordWriterOptions;
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given: readonly unknown[]) {
    super(...((given.length === 0 ? [RealDate.now() + shiftMs] : given) as [number]));
  }
  static override now(): number {
    return RealDate.now() + shiftMs;
  }
} as DateConstructor;

let isStopped = false;
process.stdin.on("end", () => {
  isStopped = true;
});
process.stdin.resume();

const store = encryptedStore(openStore(url), encryption);
for (let n = 0; !isStopped; n++) {
  const session = n % 5 === 4 ? `${name}.${n}` : (sessions[n % sessions.length] ?? "");
  const runId = `${name}-${n}`;
  const at = new Date().toISOString();
  await recordRun(store, {
    session,
    runId,
    question: `question ${runId}`,
    at,
    subagent: n % 7 === 0 ? "helper" : undefined,
  });
  process.stdout.write(`${JSON.stringify({ session, runId })}\n`);
  await sleep(100 + Math.random() * 100);
}
await store.close();
