// The door "offstage/costs": the list prices. `costOf` is at the root.
export type { ModelPrice } from "../tokens/price-of.ts";
export { listPrices, listPricesDate } from "../tokens/prices.ts";
