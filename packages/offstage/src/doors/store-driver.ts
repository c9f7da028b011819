// "offstage/store-driver": everything to write a store with. A driver keeps rows; `createStore` makes a store of it.

export { createStore } from "../sessions/store.ts";
export type {
  Check,
  Commit,
  Refused,
  Row,
  RowPlace,
  RowRange,
  StoreDriver,
  Write,
  WriteLabel,
} from "../sessions/store-driver.ts";
