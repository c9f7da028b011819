// A process that takes turns on a session of a store, and says so after each. Made to be killed.
import { appendFileSync, writeSync } from "node:fs";
import { openStore } from "../../src/sessions/open-store.ts";
import type { Store } from "../../src/sessions/store.ts";
import { type CrashPoint, crashingStore } from "../../src/testing/crash-points.ts";
import { answered, calling, ended, resultOf, said, start, step } from "../../src/testing/store-claims/claim.ts";

export interface TurnWriterOptions {
  readonly url: string;
  readonly sessionId: string;
  /** What its runs are called: `<name>-<n>`. */
  readonly name: string;
  readonly from?: number;
  readonly turns: number;
  readonly point?: CrashPoint;
  /** A file to which each tool call adds the id of its run. */
  readonly effects?: string;
  /** Adds question and answer as items, without a run. */
  readonly isPlain?: boolean;
}

const options = JSON.parse(process.argv[2] ?? "{}") as TurnWriterOptions;
const { url, sessionId, name, from = 0, turns, point, isPlain } = options;
const plain = openStore(url);
const store = point === undefined ? plain : crashingStore(plain, point);

for (let n = from; n < from + turns; n++) {
  const runId = `${name}-${n}`;
  if (isPlain) await store.session(sessionId).addItems([said(`question ${runId}`), answered(`answer ${runId}`)]);
  else await takeTurn(store, runId);
  writeSync(1, `${runId}\n`);
}
await store.close();

async function takeTurn(on: Store, runId: string): Promise<void> {
  const log = await on.session(sessionId).journal.open(start(runId, `question ${runId}`));
  await log.intend(1, calling("a", "b"));
  if (options.effects !== undefined) appendFileSync(options.effects, `${runId}\n`);
  await log.settle(1, resultOf("a"));
  await log.step(step(1, [calling("a", "b"), resultOf("a"), resultOf("b")]));
  const answer = answered(`answer ${runId}`);
  await log.end(ended("", { answer: [answer], lastStep: step(2, [answer]) }));
}
