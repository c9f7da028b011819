// "offstage/store-driver": everything to write a store with. A driver keeps rows; `createStore` makes a store of it.

export type {
  Check,
  Commit,
  Committed,
  Condition,
  Grouping,
  Key,
  Put,
  Remove,
  Row,
  RowPlace,
  RowRange,
  Selection,
  StoreDriver,
  Value,
  Write,
  WriteLabel,
} from "../sessions/ports/store-driver.ts";
export { type Column, type Order, type Table, type TableName, tables } from "../sessions/ports/tables.ts";
export { createStore } from "../sessions/store.ts";
