// Wraps a driver so that values are encrypted before they leave the process. Names of lists and keys stay readable.
import { OffstageError } from "../errors.ts";
import { type EncryptionOptions, type Sealer, sealerOf } from "./sealer.ts";
import type { Check, Commit, Row, StoreDriver, Write } from "./store-driver.ts";

// One row for each encryption key, to tell a wrong key from a damaged row.
const proofList = "e";
const proofText = "offstage";

/** A driver that encrypts values. */
export interface EncryptedDriver extends StoreDriver {
  /** Stores a proof of the key if there is none yet, so that a wrong key is detected later. */
  prove(): Promise<void>;
}

/** Wraps a driver with AES-256-GCM. Each value is bound to its place: tenant, session and position. */
export function encryptedDriver(driver: StoreDriver, options: EncryptionOptions): EncryptedDriver {
  const sealer = sealerOf(options);
  const opened = (list: string, row: Row | undefined): Row | undefined => row && unsealed(sealer, list, row);
  const sealed = <W extends Write | Check>(write: W): W => {
    if (write.key === undefined || write.value === undefined) return write;
    return { ...write, value: sealer.seal(`${write.list} ${write.key}`, write.value) };
  };
  return {
    get name() {
      return driver.name;
    },
    open: async () => {
      const version = await driver.open();
      if (version > 0) await isProven(driver, sealer);
      return version;
    },
    prepare: (version) => driver.prepare(version),
    prove: () => prove(driver, sealer),
    get: async (places) => {
      const rows = await driver.get(places);
      return rows.map((row, index) => opened(places[index]?.list ?? "", row));
    },
    read: async (list, range) => (await driver.read(list, range)).flatMap((row) => opened(list, row) ?? []),
    commit: async ({ label, checks, writes }) => {
      const commit = { label, checks: checks.map(sealed), writes: writes.map(sealed) };
      const refused = await driver.commit(commit);
      return refused && again(driver, { sealer, refused, checks, commit });
    },
    close: () => driver.close(),
  };
}

function unsealed(sealer: Sealer, list: string, { key, value, damaged }: Row): Row {
  const text = damaged ? undefined : sealer.open(`${list} ${key}`, value);
  return text === undefined ? { key, value: "", damaged: true } : { key, value: text };
}

interface Refusal {
  readonly sealer: Sealer;
  readonly refused: readonly (Row | undefined)[];
  readonly checks: readonly Check[];
  readonly commit: Commit;
}

// A row encrypted with an earlier key has another text for the same value. If that is why a check failed, retry it with that text.
async function again(
  driver: StoreDriver,
  { sealer, refused, checks, commit }: Refusal,
): Promise<(Row | undefined)[] | undefined> {
  const current = refused.map((row, index) => row && unsealed(sealer, checks[index]?.list ?? "", row));
  if (checks.some(({ value }, index) => value !== current[index]?.value || current[index]?.damaged)) return current;
  const asRead = checks.map(({ list, key }, index) => ({ list, key, value: refused[index]?.value }));
  const still = await driver.commit({ ...commit, checks: asRead });
  return still?.map((row, index) => row && unsealed(sealer, checks[index]?.list ?? "", row));
}

async function prove(driver: StoreDriver, sealer: Sealer): Promise<void> {
  if (await isProven(driver, sealer)) return;
  const place = { list: proofList, key: sealer.keyId };
  const value = sealer.seal(`${proofList} ${sealer.keyId}`, proofText);
  await driver.commit({
    label: "store.migrate",
    checks: [{ ...place, value: undefined }],
    writes: [{ ...place, value }],
  });
}

// True if there is a proof of the current key. Throws if a proof does not match the key of that id.
async function isProven(driver: StoreDriver, sealer: Sealer): Promise<boolean> {
  const known = (await driver.read(proofList)).filter((row) => sealer.knows(row.key));
  for (const row of known) {
    if (sealer.open(`${proofList} ${row.key}`, row.value) !== proofText) throw wrongKey(driver.name, row.key);
  }
  return known.some(({ key }) => key === sealer.keyId);
}

function wrongKey(name: string, keyId: string): OffstageError {
  const message = `${name} was encrypted with another key than the one passed as "${keyId}". Nothing was changed.`;
  return new OffstageError("wrong-key", message);
}
