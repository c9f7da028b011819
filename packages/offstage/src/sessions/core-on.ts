// The core of a store on one of the back ends of this package.
import type { BackEnd } from "./drivers/index.ts";
import type { DriverSource } from "./head/connection.ts";
import type { StoreDriver } from "./ports/store-driver.ts";
import { type CoreOptions, checkStoreOptions, openCore, type StoreCore } from "./store-core.ts";

/** Checks options and creates the core of a store. */
export function coreOn<Options extends object>(
  { maker, rules, nameOf, load }: BackEnd<Options>,
  options: Options & CoreOptions,
  owner: string = maker,
): StoreCore {
  checkStoreOptions(owner, options, rules);
  return openCore(once({ name: nameOf(options), load: () => load(options) }), options);
}

// Loads the driver once: wrappers of a store share it.
function once<D extends StoreDriver>(source: { name: string; load(): Promise<D> }): DriverSource {
  let loading: Promise<D> | undefined;
  return {
    name: source.name,
    load: () => {
      loading ??= source.load();
      return loading;
    },
  };
}
