// The contract of a store driver, as cases: it is tested directly through its port. The contract of a store is in session-store-contract.ts.
import assert from "node:assert/strict";
import { checkOptions, checkRequired, someFunction } from "../base/options.ts";
import type { StoreDriver } from "../sessions/ports/store-driver.ts";
import { type Claim, type ContractCase, caseOn } from "./contract-case.ts";
import { message, messages, write } from "./driver-claims/claim-rows.ts";
import { readClaims } from "./driver-claims/reading.ts";
import { selectClaims } from "./driver-claims/selecting.ts";
import { sharedClaims } from "./driver-claims/shared.ts";
import { valueClaims } from "./driver-claims/values.ts";
import { writeClaims } from "./driver-claims/writing.ts";

export interface StoreDriverContractOptions {
  /** Opens the place of the given driver a second time, as another process would. Adds the cases that need two drivers. */
  readonly reopen?: ((driver: StoreDriver) => StoreDriver | Promise<StoreDriver>) | undefined;
}

/**
 * The cases that every driver must pass. `open` returns a driver on a new, empty place each time, which the case prepares and
 * closes. Usage: `for (const { name, run } of storeDriverContract(open)) test(name, run)`.
 */
export function storeDriverContract(
  open: () => StoreDriver | Promise<StoreDriver>,
  options: StoreDriverContractOptions = {},
): ContractCase[] {
  checkRequired("open", open, someFunction);
  checkOptions(options, { reopen: someFunction }, "storeDriverContract()");
  const { reopen } = options;
  const prepared = async (): Promise<StoreDriver> => {
    const driver = await open();
    await driver.open();
    await driver.prepare(1);
    return driver;
  };
  const claims = [...writeClaims, ...readClaims, ...valueClaims, ...selectClaims];
  return [
    ...lifeClaims.map((claim) => caseOn(open, claim)),
    ...claims.map((claim) => caseOn(prepared, claim)),
    ...(reopen === undefined ? [] : sharedClaims.map((claim) => caseOn(open, onTwo(claim, reopen)))),
  ];
}

function onTwo(
  { name, claim }: (typeof sharedClaims)[number],
  reopen: (driver: StoreDriver) => StoreDriver | Promise<StoreDriver>,
): Claim<StoreDriver> {
  return {
    name,
    async claim(driver) {
      const other = await reopen(driver);
      try {
        await claim(driver, other);
      } finally {
        await other.close();
      }
    },
  };
}

const lifeClaims: readonly Claim<StoreDriver>[] = [
  {
    name: "a new place has version 0 until it is prepared",
    async claim(driver) {
      assert.equal(await driver.open(), 0);
      assert.equal(await driver.open(), 0);
      await driver.prepare(3);
      assert.equal(await driver.open(), 3);
      assert.notEqual(driver.name, "");
    },
  },
  {
    name: "a place can be prepared again, and keeps its rows",
    async claim(driver) {
      await driver.open();
      await driver.prepare(1);
      await write(driver, message(1));
      await driver.prepare(1);
      await Promise.all([driver.prepare(2), driver.prepare(2)]);
      assert.equal(await driver.open(), 2);
      assert.equal((await messages(driver)).length, 1);
    },
  },
  {
    name: "closing twice is closing once",
    async claim(driver) {
      await driver.open();
      await driver.prepare(1);
      await driver.close();
      await driver.close();
    },
  },
  {
    name: "closing a driver that was never opened is a no-op",
    async claim(driver) {
      await driver.close();
    },
  },
  {
    name: "a closed driver can be opened again",
    async claim(driver) {
      await driver.open();
      await driver.prepare(1);
      await driver.close();
      await driver.prepare(Math.max(1, await driver.open()));
      await write(driver, message(1));
      assert.equal((await messages(driver)).length, 1);
    },
  },
];
