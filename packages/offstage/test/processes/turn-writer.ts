// A process that writes turns to a session of a store and prints each one when it is acknowledged. Made to be killed.
import { appendFileSync, writeSync } from "node:fs";
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "../../src/sessions/open-store.ts";
import { SessionBusyError } from "../../src/sessions/ports/session.ts";
import type { Store } from "../../src/sessions/store.ts";
import { type CrashPoint, crashingStore } from "../../src/testing/crash-points.ts";
import { answered, calling, ended, resultOf, said, start, step } from "../../src/testing/store-claims/claim.ts";

export interface TurnWriterOptions {
  readonly url: string;
  /** One session, or several that are written to concurrently. A session listed twice gets two concurrent writers. */
  readonly sessionId: string | readonly string[];
  /** Prefix of run ids: `<name>-<n>`, or `<name>.<index of the session>-<n>` if there are several sessions. */
  readonly name: string;
  readonly from?: number;
  readonly turns: number;
  readonly point?: CrashPoint;
  /** A file to which each tool call appends the id of its run. */
  readonly effects?: string;
  /** Adds question and answer as items, without a run. */
  readonly isPlain?: boolean;
  /** With "reject", the writer itself retries a refused turn. Default "queue". */
  readonly onBusy?: "queue" | "reject";
  /** How long each run keeps its session locked before its first step. Prints `holding` when it starts to. */
  readonly pauseMs?: number;
  /** The host name that the process pretends to have. */
  readonly hostname?: string;
}

const options = JSON.parse(process.argv[2] ?? "{}") as TurnWriterOptions;
const { url, from = 0, turns, point, isPlain, onBusy = "queue", pauseMs, hostname } = options;
if (hostname !== undefined) os.hostname = () => hostname;
const plain = openStore(url);
const store = point === undefined ? plain : crashingStore(plain, point);
const sessionIds = [options.sessionId].flat();
let refused = 0;

await Promise.all(
  sessionIds.map((id, place) => takeTurns(id, sessionIds.length === 1 ? options.name : `${options.name}.${place}`)),
);
if (refused > 0) say(`refused ${refused}\n`);
await store.close();

async function takeTurns(sessionId: string, name: string): Promise<void> {
  for (let n = from; n < from + turns; n++) {
    const runId = `${name}-${n}`;
    if (isPlain) await store.session(sessionId).addItems([said(`question ${runId}`), answered(`answer ${runId}`)]);
    else await untilTaken(() => takeTurn(store, sessionId, runId));
    say(`${runId}\n`);
  }
}

// Writes synchronously, so that a kill loses no printed line. Waits while the pipe is full.
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, line);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

async function untilTaken(take: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await take();
    } catch (error) {
      if (!(error instanceof SessionBusyError) || onBusy === "queue") throw error;
    }
    refused++;
    await sleep(Math.random() * 10);
  }
}

async function takeTurn(on: Store, sessionId: string, runId: string): Promise<void> {
  const log = await on.session(sessionId).journal.open(start(runId, `question ${runId}`, { onBusy }));
  if (pauseMs !== undefined) {
    say(`holding ${runId}\n`);
    await sleep(pauseMs);
  }
  await log.intend(1, calling("a", "b"));
  if (options.effects !== undefined) appendFileSync(options.effects, `${runId}\n`);
  await log.settle(1, resultOf("a"));
  await log.step(step(1, [calling("a", "b"), resultOf("a"), resultOf("b")]));
  const answer = answered(`answer ${runId}`);
  await log.end(ended("", { answer: [answer], lastStep: step(2, [answer]) }));
}
