// The door "offstage/costs": the list prices, and budgets over several runs. `costOf` and `costLimit` are at the root.
export { type BudgetOptions, type BudgetStore, budget } from "../state/criteria/budget.ts";
export type { ModelPrice } from "../tokens/price-of.ts";
export { listPrices, listPricesDate } from "../tokens/prices.ts";
