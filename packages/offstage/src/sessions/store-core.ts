// Store core: a driver made usable for one namespace. What Store and PersistentSession both stand on; no face of its own.

import { shownValue } from "../base/options.ts";
import { warn } from "../base/warn.ts";
import { OffstageError } from "../errors.ts";
import { admittedDriver } from "./admitted-driver.ts";
import { checkPlain } from "./check-sealing.ts";
import { holdsOf } from "./hold.ts";
import { holderOf } from "./holder.ts";
import { type OpenedDriver, openedDriver } from "./opened-driver.ts";
import { checkedRedact, type MessageRedactor } from "./redaction.ts";
import { type ListNames, listNames } from "./row-keys.ts";
import { type SessionCells, sessionCells } from "./session-cells.ts";
import { writerLength } from "./session-head.ts";
import { stampClock } from "./store-context.ts";
import type { StoreDriver } from "./store-driver.ts";

export interface CoreOptions {
  /** Whose sessions these are. Namespaces cannot see each other. Default "". */
  readonly namespace?: string | undefined;
  /**
   * What a message becomes before it is written, in the conversation and in the journal. What else may quote one (whole
   * values, errors, the content of spans) is shown to it as the content of a message.
   */
  readonly redact?: MessageRedactor | undefined;
  /** Told of rows that cannot be read. Default: a warning of the process. */
  readonly onError?: ((error: OffstageError) => void) | undefined;
}

export interface StoreCore {
  /** The driver as it was given. */
  readonly bare: StoreDriver;
  /** What it was told, and its namespace: for a store around this one. */
  readonly options: CoreOptions;
  /** The place, whatever namespace is used. */
  readonly driver: OpenedDriver;
  readonly cells: SessionCells;
  ready(): Promise<void>;
  /** The same store for another namespace; the same object for the same name. */
  namespace(name: string): StoreCore;
  /** Gives up what runs still hold, then closes the driver. */
  close(): Promise<void>;
}

/** A look at a namespace before it is used; throws where it must not be. */
export type Look = (lists: ListNames) => Promise<void>;

/** A driver made usable. Where there is no look of its own, what is encrypted is refused. */
export function openCore(bare: StoreDriver, options: CoreOptions = {}, look?: Look): StoreCore {
  const { namespace = "", redact, onError } = options;
  const report = onError ?? warnOf;
  // By name: the options of a back end hold keys and addresses, which are not to be seen on a store.
  const kept: CoreOptions = { ...(redact && { redact }), ...(options.onError && { onError: options.onError }) };
  const driver = openedDriver(bare);
  // Made with the first write: loading what makes random numbers and hashes takes longer than opening a store.
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
    const told = { ...kept, namespace: name };
    const core = { bare, options: told, driver, cells, ready: admitted.ready, namespace: coreOf, close };
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

function warnOf({ message, code }: OffstageError): void {
  warn(message, { code });
}
