// The rows of one namespace, typed, on their way to a back end and back: exact texts, encryption, and a check of every row that is
// read. The only user of a connection.
import { isObject, parseJson } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import { namespaceRow, withCurrentKeyOnly } from "../encryption/namespace-seal.ts";
import { isSealedWith, sealRow, unsealRow } from "../encryption/sealed-rows.ts";
import type { Sealer } from "../encryption/sealer.ts";
import type {
  Check,
  Commit,
  Committed,
  Key,
  Row,
  RowRange,
  Selection,
  Value,
  Write,
  WriteLabel,
} from "../ports/store-driver.ts";
import { type ColumnType, longestId, type OrderName, type RowOf, type TableName, tables } from "../ports/tables.ts";
import { hashOf } from "../rows/message-row.ts";
import type { Connection, Sending } from "./connection.ts";
import { answerFrom } from "./select-from.ts";

/** Reports a row that cannot be read. If it throws, the read fails; otherwise the row is skipped, and never removed. */
export type Report = (error: OffstageError) => void;

/** A range of rows. The namespace is left out of `prefix`. */
export interface Range<Name extends TableName> extends Omit<RowRange, "table" | "order" | "prefix"> {
  readonly order?: OrderName<Name> | undefined;
  readonly prefix?: Key | undefined;
}

export interface NamespaceRowsOptions {
  readonly namespace: string;
  /** Encrypts and decrypts rows. Default: they are plain. */
  readonly sealer?: Sealer | undefined;
  readonly report: Report;
}

export class NamespaceRows {
  readonly namespace: string;
  readonly report: Report;
  readonly #connection: Connection;
  readonly #sealer: Sealer | undefined;
  // Shared with the same rows under other report functions.
  #check = { isDone: false };
  #beginning: Promise<void> | undefined;

  constructor(connection: Connection, { namespace, sealer, report }: NamespaceRowsOptions) {
    this.namespace = namespace;
    this.report = report;
    this.#connection = connection;
    this.#sealer = sealer;
  }

  /** The same rows with another report function. */
  reporting(report: Report): NamespaceRows {
    const rows = new NamespaceRows(this.#connection, { namespace: this.namespace, sealer: this.#sealer, report });
    rows.#check = this.#check;
    return rows;
  }

  /** The store, as errors name it. */
  get name(): string {
    return this.#connection.name;
  }

  /** Opens the store, and checks that the namespace is encrypted as expected. Writes nothing. */
  async ready(): Promise<void> {
    await this.#checkNamespace();
    await this.#connection.ready();
  }

  // Until the first write, another process may still decide whether the namespace is encrypted, so it is read again.
  async #checkNamespace(): Promise<void> {
    if (this.#check.isDone) return;
    const found = await this.#namespaceRow();
    if (found !== undefined) namespaceRow(this, found, this.#sealer);
    this.#check.isDone = found !== undefined;
  }

  async #namespaceRow(): Promise<Row | undefined> {
    const [found] = await this.#connection.get([{ table: "namespaces", key: [this.namespace] }]);
    return found;
  }

  /** The row with this key; undefined if there is none. Throws `store-corrupt` if it cannot be read. */
  async get<Name extends TableName>(table: Name, key: Key): Promise<RowOf<Name> | undefined> {
    const [row] = await this.reporting(throwIt).getAll(table, [key]);
    return row;
  }

  /** The rows with these keys, as one snapshot; undefined for one that is missing or cannot be read. */
  async getAll<Name extends TableName>(table: Name, keys: readonly Key[]): Promise<(RowOf<Name> | undefined)[]> {
    if (keys.length === 0) {
      await this.ready();
      return [];
    }
    await this.#checkNamespace();
    const rows = await this.#connection.get(keys.map((key) => ({ table, key: [this.namespace, ...key] })));
    return rows.map((row) => row && this.open(table, row));
  }

  /** The rows of a range, as one snapshot. A row that cannot be read is reported and left out. */
  async read<Name extends TableName>(table: Name, range: Range<Name> = {}): Promise<RowOf<Name>[]> {
    return this.openAll(table, await this.readRaw(table, range));
  }

  /** The rows of a range as the back end has them. */
  async readRaw<Name extends TableName>(table: Name, range: Range<Name> = {}): Promise<Row[]> {
    const { prefix = [] } = range;
    await this.#checkNamespace();
    return this.#connection.read({ ...range, table, prefix: [this.namespace, ...prefix] });
  }

  /** The rows that meet conditions, or more: those on encrypted columns are left out. A row that cannot be read is reported. */
  async select<Name extends TableName>(selection: Selection & { readonly table: Name }): Promise<RowOf<Name>[]> {
    return this.openAll(selection.table, await this.selectRaw(selection));
  }

  /** The answer to a question as the back end gives it. If it cannot, the same answer is computed from the rows. */
  async selectRaw(selection: Selection): Promise<Row[]> {
    await this.#checkNamespace();
    const { columns } = tables[selection.table];
    const isReadable = (column: string) => this.#sealer === undefined || columns[column]?.isSealed !== true;
    const where = selection.where.filter(({ column }) => isReadable(column));
    const inNamespace = { column: "namespace", in: [this.namespace] };
    const selected = await this.#connection.select({ ...selection, where: [inNamespace, ...where] });
    return (
      selected ?? answerFrom((table, range) => this.readRaw(table, range as Range<TableName>), { ...selection, where })
    );
  }

  /**
   * Commits writes. The namespace is left out of keys, and in the rows it is the one of these rows. The first write of a namespace
   * records whether it is encrypted.
   */
  async commit({ label, checks, writes }: Commit, sending?: Sending): Promise<Committed> {
    await this.#checkNamespace();
    if (writes.length > 0) await this.#begun();
    const stored = {
      label,
      checks: checks.map((check) => ({ ...check, key: [this.namespace, ...check.key] })),
      writes: writes.map((write) => this.#stored(write)),
    };
    const committed = await this.#connection.commit(stored, sending);
    if (committed.refused === undefined) return committed;
    const strict = this.reporting(throwIt);
    const rows = committed.refused.map((row, index) => row && strict.open((checks[index] as Check).table, row));
    return { refused: rows };
  }

  async #begun(): Promise<void> {
    this.#beginning ??= this.#begin().catch((error) => {
      this.#beginning = undefined;
      throw error;
    });
    await this.#beginning;
  }

  // Two processes may begin a namespace at the same time, so the row is written only if it is still as it was read.
  async #begin(): Promise<void> {
    for (let found = await this.#namespaceRow(); ; ) {
      const row = namespaceRow(this, found, this.#sealer);
      if (row === undefined) return;
      const { refused } = await this.#putNamespace("namespace.begin", found, row);
      if (refused === undefined) return;
      [found] = refused;
    }
  }

  /** Makes earlier keys unfit to open the namespace, once no row is encrypted with them. */
  async forgetEarlierKeys(): Promise<void> {
    const found = await this.#namespaceRow();
    if (this.#sealer === undefined || found === undefined) return;
    // If it is refused, another process began to use a further key, and keeps the proofs.
    await this.#putNamespace("store.rotate", found, withCurrentKeyOnly(this, found, this.#sealer));
  }

  #putNamespace(label: WriteLabel, found: Row | undefined, row: Row): Promise<Committed> {
    const where = found && { key_proofs: found.key_proofs ?? null };
    const checks = [{ table: "namespaces" as const, key: [this.namespace], where }];
    return this.#connection.commit({ label, checks, writes: [{ table: "namespaces", row }] });
  }

  #stored(write: Write): Write {
    if ("remove" in write) return { ...write, remove: [this.namespace, ...write.remove] };
    const row = storableRow(write.row);
    return { ...write, row: this.#sealer === undefined ? row : sealRow(this.#sealer, write.table, row) };
  }

  /** The row as it was written. If it cannot be read, reports that and returns undefined. */
  open<Name extends TableName>(table: Name, row: Row): RowOf<Name> | undefined {
    const sealer = this.#sealer;
    const read = () => checkRow(table, exactRow(sealer === undefined ? row : unsealRow(sealer, table, row)));
    return this.parse(table, row, read);
  }

  /** The rows as they were written. One that cannot be read is reported and left out. */
  openAll<Name extends TableName>(table: Name, rows: readonly Row[]): RowOf<Name>[] {
    return rows.map((row) => this.open(table, row)).filter((row) => row !== undefined);
  }

  /** Applies `read` to a row. If it throws, because the row has an unexpected form, reports that and returns undefined. */
  parse<R extends object, T>(table: TableName, row: R, read: (row: R) => T): T | undefined {
    try {
      return read(row);
    } catch (cause) {
      this.report(corrupt(this.nameOf(table, row as Row), cause));
      return undefined;
    }
  }

  /** Names a row in errors: `row "anna", 12 of the table "messages" in SQLite file "a.db"`. */
  nameOf(table: TableName, row: Row): string {
    const { key } = tables[table];
    const [, ...place] = [...key.scope, ...key.by].map((column) => JSON.stringify(row[column] ?? null));
    return `row ${place.join(", ")} of the table "${table}" in ${this.name}`;
  }

  /** The hash of a content. With encryption the hash is keyed, so that a guessed content cannot be confirmed. */
  hashOf(text: string): string {
    return this.#sealer?.hash(text) ?? hashOf(text);
  }

  /** True if the row is encrypted with the current key, or not to be encrypted. */
  isCurrent(table: TableName, row: Row): boolean {
    return this.#sealer === undefined || isSealedWith(this.#sealer, table, row);
  }
}

function throwIt(error: Error): never {
  throw error;
}

/**
 * The row with texts only that every back end can store: a text with NUL or a lone surrogate is readable with U+FFFD in its column,
 * and exact, as JSON, in the column `exact`. JSON needs no care: it escapes them itself.
 */
export function storableRow(row: Row): Row {
  let exact: Record<string, string> | undefined;
  for (const name in row) {
    const value = row[name];
    if (typeof value !== "string" || isStorable(value)) continue;
    exact ??= {};
    exact[name] = value;
  }
  if (exact === undefined) return row;
  const readable = Object.entries(exact).map(([name, text]) => [name, text.toWellFormed().replaceAll("\0", "\ufffd")]);
  return { ...row, ...Object.fromEntries(readable), exact: JSON.stringify(exact) };
}

/** The row with its exact texts. Throws if `exact` is no JSON object of texts. */
export function exactRow(row: Row): Row {
  if (typeof row.exact !== "string") return row;
  const exact = parseJson(row.exact);
  if (!isObject(exact) || !Object.values(exact).every((value) => typeof value === "string"))
    throw new Error('its column "exact" has an unexpected form');
  return { ...row, ...(exact as Record<string, Value>), exact: null };
}

/** The row with its type. Throws unless it has a value of the right type in every column. */
export function checkRow<Name extends TableName>(table: Name, row: Row): RowOf<Name> {
  for (const [name, { type, isOptional }] of Object.entries(tables[table].columns)) {
    const value = row[name] ?? null;
    if (!(value === null ? isOptional : fits[type](value)))
      throw new Error(`its column "${name}" has an unexpected value`);
  }
  return row as unknown as RowOf<Name>;
}

const fits: Readonly<Record<ColumnType, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  // Parsed where it is used.
  json: (value) => typeof value === "string",
  integer: (value) => Number.isSafeInteger(value),
  real: (value) => typeof value === "number" && Number.isFinite(value),
  boolean: (value) => typeof value === "boolean",
  time: (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
};

/** The error for data that is not as it was written. */
export function corrupt(name: string, cause: unknown): OffstageError {
  return new OffstageError("store-corrupt", `Damage in ${name}: ${messageOf(cause)}. Nothing was changed.`, { cause });
}

/** True if every back end can store the text as it is. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** True if the value can be an id: text of 1 to 512 bytes, well-formed and without NUL. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && isStorable(value) && Buffer.byteLength(value) <= longestId;
}

/** Throws `invalid-argument` unless the value can be an id. */
export function checkId(id: unknown, what: string): asserts id is string {
  if (isId(id)) return;
  const found = typeof id === "string" && id.length > 80 ? `text of ${Buffer.byteLength(id)} bytes` : shownValue(id);
  throw new OffstageError(
    "invalid-argument",
    `A ${what} must be text of 1 to ${longestId} bytes, without NUL and lone surrogates; found ${found}.`,
  );
}
