// The core of a store in one namespace, on which Store and PersistentSession are built.

import { clockOffsetMs } from "../base/clock.ts";
import { shownValue } from "../base/options.ts";
import { warn } from "../base/warn.ts";
import { OffstageError } from "../errors.ts";
import { checkPlain } from "./check-sealing.ts";
import { holdsOf } from "./hold.ts";
import { holderOf } from "./holder.ts";
import { admittedDriver, type OpenedDriver, openedDriver } from "./opened-driver.ts";
import { checkedRedact, type MessageRedactor } from "./redaction.ts";
import { type ListNames, listNames } from "./row-keys.ts";
import { type SessionCells, sessionCells } from "./session-cell.ts";
import { writerLength } from "./session-head.ts";
import type { StoreDriver } from "./store-driver.ts";

export interface CoreOptions {
  /** The tenant that sessions, runs and spans belong to. Namespaces cannot see each other. Default "". */
  readonly namespace?: string | undefined;
  /**
   * Changes each message before it is written, in the conversation and in the journal. Other data that may quote a message
   * (full values, errors, the content of spans) is passed to it as the content of a message.
   */
  readonly redact?: MessageRedactor | undefined;
  /** Called for each row that cannot be read. Default: prints a process warning. */
  readonly onError?: ((error: OffstageError) => void) | undefined;
}

export interface StoreCore {
  /** The driver that was passed in. */
  readonly bare: StoreDriver;
  /** The options and the namespace, for a wrapper of this store. */
  readonly options: CoreOptions;
  /** The driver for all namespaces. */
  readonly driver: OpenedDriver;
  readonly cells: SessionCells;
  ready(): Promise<void>;
  /** The core of another namespace; the same object for the same name. */
  namespace(name: string): StoreCore;
  /** Completes requested changes and abandons open runs, then closes the driver. */
  close(): Promise<void>;
}

/** Checks a namespace before it is used; rejects if it must not be. */
export type Look = (lists: ListNames) => Promise<void>;

/** Creates the core of a store. The default `look` refuses an encrypted namespace. */
export function openCore(bare: StoreDriver, options: CoreOptions = {}, look?: Look): StoreCore {
  const { namespace = "", redact, onError } = options;
  const report = onError ?? printWarning;
  // Only these: the other options of a store contain keys and addresses.
  const kept: CoreOptions = { redact, onError };
  const driver = openedDriver(bare);
  // Made on first use: loading crypto takes longer than opening a store.
  const token = lazy(() => crypto.randomUUID().slice(0, writerLength));
  const holder = lazy(() => holderOf(token()));
  let operations = 0;
  const lookAt: Look = look ?? ((lists) => checkPlain(driver, lists));
  const shared = {
    redact: redact && checkedRedact(redact),
    holds: holdsOf(),
    report,
    stamp: stampClock(),
    operation: () => `${token()}${(++operations).toString(36)}`,
  };
  const cores = new Map<string, StoreCore>();
  const close = async (): Promise<void> => {
    await shared.holds.close();
    await driver.close();
  };
  const coreOf = (name: string): StoreCore => {
    if (typeof name !== "string")
      throw new OffstageError("invalid-argument", `A namespace must be text; found ${shownValue(name)}.`);
    const known = cores.get(name);
    if (known !== undefined) return known;
    const lists = listNames(name);
    const admitted = admittedDriver(driver, () => lookAt(lists));
    const cells = sessionCells({
      ...shared,
      driver: admitted,
      get holder() {
        return holder();
      },
      lists,
      recent: {},
    });
    const core = {
      bare,
      options: { ...kept, namespace: name },
      driver,
      cells,
      ready: admitted.ready,
      namespace: coreOf,
      close,
    };
    cores.set(name, core);
    return core;
  };
  return coreOf(namespace);
}

function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function printWarning({ message, code }: OffstageError): void {
  warn(message, { code });
}

// A clock of epoch microseconds that is strictly increasing.
function stampClock(): () => number {
  let last = 0;
  return () => {
    const now = performance.now();
    last = Math.max(last + 1, Math.trunc((clockOffsetMs(now) + now) * 1000));
    return last;
  };
}
