// The rows of one namespace, typed: exact texts, encryption, and a check of every row that is read. The only user of a connection.
import { namespaceRow, withCurrentKeyOnly } from "../encryption/namespace-seal.ts";
import { isSealedColumn, type RowSealer } from "../encryption/sealed-rows.ts";
import type { Sealer } from "../encryption/sealer.ts";
import type {
  Check,
  Committed,
  Condition,
  Key,
  Row,
  RowRange,
  Selection,
  Write,
  WriteLabel,
} from "../ports/store-driver.ts";
import { type OrderName, type RowOf, type TableName, tables } from "../ports/tables.ts";
import { corrupt, openRows, type Report, storableWrites } from "../rows/check-row.ts";
import { hashOf } from "../rows/contents.ts";
import type { Connection, Sending } from "./connection.ts";
import { selectFrom } from "./select-from.ts";

/** A range of rows. The namespace is left out of `prefix`. */
export interface Range<Name extends TableName> extends Omit<RowRange, "table" | "order" | "prefix"> {
  readonly order?: OrderName<Name> | undefined;
  readonly prefix?: Key | undefined;
  /** Default: the report function of the store. */
  readonly report?: Report | undefined;
}

/** A write with checks. The namespace is left out of keys, and in the rows it is the one of these rows. */
export interface RowCommit {
  readonly label: WriteLabel;
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/** The keys of a namespace: the current one, and earlier ones. */
export interface Encryption {
  readonly sealer: Sealer;
  readonly rows: RowSealer;
}

export interface NamespaceRowsOptions {
  readonly namespace: string;
  readonly encryption?: Encryption | undefined;
  readonly report: Report;
}

export class NamespaceRows {
  readonly namespace: string;
  readonly report: Report;
  readonly #connection: Connection;
  readonly #encryption: Encryption | undefined;
  #isKnown = false;
  #beginning: Promise<void> | undefined;

  constructor(connection: Connection, { namespace, encryption, report }: NamespaceRowsOptions) {
    this.namespace = namespace;
    this.report = report;
    this.#connection = connection;
    this.#encryption = encryption;
  }

  /** The same rows with another report function. */
  reporting(report: Report): NamespaceRows {
    return new NamespaceRows(this.#connection, { namespace: this.namespace, encryption: this.#encryption, report });
  }

  /** The store, as errors name it. */
  get name(): string {
    return this.#connection.name;
  }

  /** True if sealed columns are encrypted, so that a back end cannot search them. */
  get isEncrypted(): boolean {
    return this.#encryption !== undefined;
  }

  /** Opens the store, and checks that the namespace is encrypted as expected. Writes nothing. */
  async ready(): Promise<void> {
    await this.#checkNamespace();
    await this.#connection.ready();
  }

  // Until the first write, another process may still decide whether the namespace is encrypted, so it is read again.
  async #checkNamespace(): Promise<void> {
    if (this.#isKnown) return;
    const [found] = await this.#connection.get([{ table: "namespaces", key: [this.namespace] }]);
    if (found !== undefined) namespaceRow(this, found, this.#encryption?.sealer);
    this.#isKnown = found !== undefined;
  }

  /** The row with this key; undefined if there is none. Throws `store-corrupt` if it cannot be read. */
  async get<Name extends TableName>(table: Name, key: Key): Promise<RowOf<Name> | undefined> {
    const [row] = await this.getAll(table, [key], throwIt);
    return row;
  }

  /** The rows with these keys, as one snapshot; undefined for one that is missing or cannot be read. */
  async getAll<Name extends TableName>(
    table: Name,
    keys: readonly Key[],
    report: Report = this.report,
  ): Promise<(RowOf<Name> | undefined)[]> {
    if (keys.length === 0) {
      await this.ready();
      return [];
    }
    await this.#checkNamespace();
    const rows = await this.#connection.get(keys.map((key) => ({ table, key: [this.namespace, ...key] })));
    return this.#openEach(table, rows, report);
  }

  /** The rows of a range, as one snapshot. A row that cannot be read is reported and left out. */
  async read<Name extends TableName>(table: Name, range: Range<Name> = {}): Promise<RowOf<Name>[]> {
    const { report = this.report } = range;
    const rows = await this.readRaw(table, range);
    return this.openAll(table, rows, report);
  }

  /** The rows of a range as the back end has them. */
  async readRaw<Name extends TableName>(table: Name, range: Range<Name> = {}): Promise<Row[]> {
    const { report: _, prefix = [], ...rest } = range;
    await this.#checkNamespace();
    return this.#connection.read({ ...rest, table, prefix: [this.namespace, ...prefix] });
  }

  /** The rows that meet conditions, or more: those on encrypted columns are left out. A row that cannot be read is reported. */
  async select<Name extends TableName>(selection: Selection & { readonly table: Name }): Promise<RowOf<Name>[]> {
    const rows = await this.selectRaw(selection);
    return this.openAll(selection.table, rows);
  }

  /** The answer to a question as the back end gives it. If it cannot, the same answer is computed from the rows. */
  async selectRaw(selection: Selection): Promise<Row[]> {
    await this.#checkNamespace();
    const { table } = selection;
    const where = selection.where.filter(({ column }) => !this.isEncrypted || !isSealedColumn(table, column));
    const inNamespace = { column: "namespace", in: [this.namespace] };
    const selected = await this.#connection.select({ ...selection, where: [inNamespace, ...where] });
    return selected ?? this.#selectFromRows({ ...selection, where });
  }

  async #selectFromRows({ table, where, groups, newestBy, limit }: Selection): Promise<Row[]> {
    if (newestBy === undefined) return selectFrom(await this.#readAll(table, where), { where, groups }).slice(0, limit);
    const [column = ""] = tables[table].orders[newestBy]?.by ?? [];
    const size = limit === undefined ? undefined : Math.max(limit, 100);
    const bound = where.find((condition) => condition.column === column && "before" in condition);
    const found: Row[] = [];
    let before = bound && "before" in bound ? Number(bound.before) : undefined;
    for (;;) {
      const range = { order: newestBy as OrderName<TableName>, reverse: true, before, limit: size };
      const page = await this.readRaw(table, range);
      for (const row of selectFrom(page, { where })) found.push(row);
      if (size === undefined || page.length < size || found.length >= (limit ?? 0)) return found.slice(0, limit);
      before = Number(page.at(-1)?.[column]);
    }
  }

  // The rows of the sessions that a condition names, or of all sessions.
  async #readAll(table: TableName, where: readonly Condition[]): Promise<Row[]> {
    const named = where.find((condition) => condition.column === "session_id" && "in" in condition);
    const heads = named === undefined ? await this.readRaw("sessions", { order: "activity" }) : [];
    const ids = named && "in" in named ? named.in : heads.map(({ session_id }) => session_id);
    const rows = await Promise.all(ids.map((id) => this.readRaw(table, { prefix: [String(id)] })));
    return rows.flat();
  }

  /** Commits writes. The first write of a namespace records whether it is encrypted. */
  async commit({ label, checks, writes }: RowCommit, sending?: Sending): Promise<Committed> {
    await this.#checkNamespace();
    if (writes.length > 0) await this.#begun();
    const stored = {
      label,
      checks: checks.map((check) => ({ ...check, key: [this.namespace, ...check.key] })),
      writes: storableWrites(writes).map((write) => this.#stored(write)),
    };
    const committed = await this.#connection.commit(stored, sending);
    if (committed.refused === undefined) return committed;
    const rows = committed.refused.map((row, index) => {
      const { table } = checks[index] as Check;
      return row && this.open(table, row, throwIt);
    });
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
    const key = [this.namespace];
    const place = { table: "namespaces" as const, key };
    for (let [found] = await this.#connection.get([place]); ; ) {
      const row = namespaceRow(this, found, this.#encryption?.sealer);
      if (row === undefined) return;
      const where = found && { key_proofs: found.key_proofs ?? null };
      const commit = {
        label: "namespace.begin" as const,
        checks: [{ ...place, where }],
        writes: [{ table: place.table, row }],
      };
      const { refused } = await this.#connection.commit(commit);
      if (refused === undefined) return;
      [found] = refused;
    }
  }

  /** Makes earlier keys unfit to open the namespace, once no row is encrypted with them. */
  async forgetEarlierKeys(): Promise<void> {
    const { sealer } = this.#encryption ?? {};
    const key = [this.namespace];
    const [found] = await this.#connection.get([{ table: "namespaces", key }]);
    if (sealer === undefined || found === undefined) return;
    const row = withCurrentKeyOnly(this, found, sealer);
    const checks = [{ table: "namespaces" as const, key, where: { key_proofs: found.key_proofs ?? null } }];
    // If it is refused, another process began to use a further key, and keeps the proofs.
    await this.#connection.commit({ label: "store.rotate", checks, writes: [{ table: "namespaces", row }] });
  }

  #stored(write: Write): Write {
    if ("remove" in write) return { ...write, remove: [this.namespace, ...write.remove] };
    return this.#encryption === undefined
      ? write
      : { ...write, row: this.#encryption.rows.seal(write.table, write.row) };
  }

  /** The row as it was written. If it cannot be read, reports that and returns undefined. */
  open<Name extends TableName>(table: Name, row: Row, report?: Report): RowOf<Name> | undefined {
    return this.#openEach(table, [row], report)[0];
  }

  /** The rows as they were written. One that cannot be read is reported and left out. */
  openAll<Name extends TableName>(table: Name, rows: readonly Row[], report?: Report): RowOf<Name>[] {
    return this.#openEach(table, rows, report).filter((row) => row !== undefined);
  }

  #openEach<Name extends TableName>(
    table: Name,
    rows: readonly (Row | undefined)[],
    report: Report = this.report,
  ): (RowOf<Name> | undefined)[] {
    const { rows: sealer } = this.#encryption ?? {};
    return openRows(table, rows, {
      decrypt: sealer && ((row) => sealer.open(table, row)),
      onDamage: (row, cause) => report(corrupt(this.nameOf(table, row), cause)),
    });
  }

  /** Applies `read` to a row. If it throws, because the row has an unexpected form, reports that and returns undefined. */
  parse<R extends object, T>(
    table: TableName,
    row: R,
    read: (row: R) => T,
    report: Report = this.report,
  ): T | undefined {
    try {
      return read(row);
    } catch (cause) {
      report(corrupt(this.nameOf(table, row as Row), cause));
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
    return this.#encryption?.sealer.hash(text) ?? hashOf(text);
  }

  /** True if the row is encrypted with the current key, or not to be encrypted. */
  isCurrent(table: TableName, row: Row): boolean {
    return this.#encryption === undefined || this.#encryption.rows.isCurrent(table, row);
  }
}

function throwIt(error: Error): never {
  throw error;
}
