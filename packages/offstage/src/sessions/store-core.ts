// The core of a store, on which Store and PersistentSession are built: a connection, and the sessions of each namespace.
import { checkOptions, type OptionRule, type OptionRules, shownValue, someFunction } from "../base/options.ts";
import { warn } from "../base/warn.ts";
import { OffstageError } from "../errors.ts";
import type { BackEnd } from "./drivers/index.ts";
import type { Sealer } from "./encryption/sealer.ts";
import { type Connection, connect, type DriverSource } from "./head/connection.ts";
import { StoreWriter } from "./head/hold.ts";
import { checkId, NamespaceRows } from "./head/namespace-rows.ts";
import { type KeepInput, type SessionCells, sessionCells } from "./head/session-cell.ts";
import type { StoreDriver } from "./ports/store-driver.ts";
import { checkRedactor, type MessageRedactor } from "./rows/redaction.ts";

/** The options of every store. */
export interface CoreOptions {
  /** The tenant that sessions, runs and spans belong to. Namespaces cannot see each other. Default "". */
  readonly namespace?: string | undefined;
  /**
   * Changes each message before it is written, in the conversation and in the journal. Other data that may quote a message
   * (full values, errors, the content of spans, model inputs) is passed to it as the content of a message.
   */
  readonly redact?: MessageRedactor | undefined;
  /** Called for each row that cannot be read. Default: prints a process warning. */
  readonly onError?: ((error: OffstageError) => void) | undefined;
  /** How much to keep of the inputs of model calls: everything, hashes only, or nothing. Default "all". */
  readonly keepInput?: KeepInput | undefined;
}

const coreRules: Readonly<Record<keyof CoreOptions, OptionRule>> = {
  namespace: { isFit: (value) => typeof value === "string", words: "text" },
  redact: someFunction,
  onError: someFunction,
  keepInput: {
    isFit: (value) => value === "all" || value === "hashes" || value === false,
    words: '"all", "hashes" or false',
  },
};

/**
 * Throws `invalid-argument` for an unknown or unfit option: a misspelt path would write to the default file, a misspelt
 * redactor would redact nothing.
 */
export function checkStoreOptions(maker: string, options: object, rules: OptionRules = {}): void {
  checkOptions(options, { ...rules, ...coreRules }, maker);
}

export interface StoreCore {
  readonly source: DriverSource;
  /** The options and the namespace, for a wrapper of this store. */
  readonly options: CoreOptions;
  readonly connection: Connection;
  readonly cells: SessionCells;
  ready(): Promise<void>;
  /** The core of another namespace; the same object for the same name. */
  namespace(name: string): StoreCore;
  /** Completes requested changes and abandons open runs, then closes the connection. */
  close(): Promise<void>;
}

/** Creates the core of a store. */
export function openCore(source: DriverSource, options: CoreOptions = {}, sealer?: Sealer): StoreCore {
  const { namespace = "", redact, onError, keepInput = "all" } = options;
  const report = onError ?? printWarning;
  const connection = connect(source);
  const shared = {
    redact: redact && checkRedactor(redact),
    keepInput,
    report,
    setups: new WeakMap(),
    writer: new StoreWriter(),
  };
  const cores = new Map<string, StoreCore>();
  const close = async (): Promise<void> => {
    await shared.writer.close();
    await connection.close();
  };
  const coreOf = (name: string): StoreCore => {
    if (typeof name !== "string")
      throw new OffstageError("invalid-argument", `A namespace must be text; found ${shownValue(name)}.`);
    if (name !== "") checkId(name, "namespace");
    const known = cores.get(name);
    if (known !== undefined) return known;
    const rows = new NamespaceRows(connection, { namespace: name, sealer, report });
    const cells = sessionCells({ ...shared, rows });
    const core = {
      source,
      // Only these: the other options of a store contain keys and addresses.
      options: { redact, onError, keepInput, namespace: name },
      connection,
      cells,
      ready: () => rows.ready(),
      namespace: coreOf,
      close,
    };
    cores.set(name, core);
    return core;
  };
  return coreOf(namespace);
}

function printWarning({ message, code }: OffstageError): void {
  warn(message, { code });
}

/** Checks options and creates the core of a store. */
export function coreOn<Options extends object>(
  { maker, rules, needs, nameOf, load }: BackEnd<Options>,
  options: Options & CoreOptions,
  owner: string = maker,
): StoreCore {
  checkStoreOptions(owner, options, rules);
  checkPlace(owner, options, needs);
  const { url } = options as { readonly url?: string };
  return openCore(once({ name: nameOf(options), url: () => url, load: () => load(options) }), options);
}

// An environment variable that is not set makes an address undefined.
function checkPlace(maker: string, options: object, needs: readonly string[] = []): void {
  const given = options as Readonly<Record<string, unknown>>;
  if (needs.length === 0 || needs.some((name) => given[name] !== undefined)) return;
  const [first] = needs;
  const names = needs.map((name) => `"${name}"`).join(" or ");
  throw new OffstageError(
    "invalid-argument",
    `${maker} needs ${names}; found ${first} undefined. Is the environment variable set?`,
  );
}

// Loads the driver once: wrappers of a store share it.
function once(source: DriverSource): DriverSource {
  let loading: Promise<StoreDriver> | undefined;
  return {
    ...source,
    load: () => {
      loading ??= source.load();
      return loading;
    },
  };
}
