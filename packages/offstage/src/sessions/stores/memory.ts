// The memory driver: rows in sorted arrays. The reference implementation of a driver.
import type { Commit, Row, RowPlace, RowRange, StoreDriver } from "../store-driver.ts";

interface SortedList {
  readonly keys: string[];
  readonly values: Map<string, string>;
}

/** Creates a driver that keeps rows in memory. */
export function memoryDriver(): StoreDriver {
  const lists = new Map<string, SortedList>();
  let version = 0;
  const rowAt = ({ list, key }: RowPlace): Row | undefined => {
    const value = lists.get(list)?.values.get(key);
    return value === undefined ? undefined : { key, value };
  };
  return {
    name: "the store in memory",
    open: async () => version,
    prepare: async (next) => {
      version = next;
    },
    get: async (places) => places.map(rowAt),
    read: async (list, range = {}) => slice(lists.get(list), range),
    commit: async ({ checks, writes }) => {
      const current = checks.map(rowAt);
      if (checks.some((check, index) => check.value !== current[index]?.value)) return current;
      apply(lists, writes);
      return undefined;
    },
    close: async () => {},
  };
}

function apply(lists: Map<string, SortedList>, writes: Commit["writes"]): void {
  for (const { list: name, key, value } of writes) {
    const list = lists.get(name) ?? { keys: [], values: new Map<string, string>() };
    if (key === undefined) list.keys.length = 0;
    else if (value === undefined) remove(list, key);
    else put(list, key, value);
    if (list.keys.length > 0) lists.set(name, list);
    else lists.delete(name);
  }
}

function put({ keys, values }: SortedList, key: string, value: string): void {
  if (!values.has(key)) keys.splice(placeOf(keys, key), 0, key);
  values.set(key, value);
}

function remove({ keys, values }: SortedList, key: string): void {
  if (values.delete(key)) keys.splice(placeOf(keys, key), 1);
}

function slice(list: SortedList | undefined, { from, before, limit, reverse }: RowRange): Row[] {
  if (list === undefined) return [];
  const { keys, values } = list;
  const start = from === undefined ? 0 : placeOf(keys, from);
  const end = before === undefined ? keys.length : placeOf(keys, before);
  const count = Math.min(limit ?? keys.length, Math.max(0, end - start));
  const found = reverse ? keys.slice(end - count, end).reverse() : keys.slice(start, start + count);
  return found.map((key) => ({ key, value: values.get(key) ?? "" }));
}

// The index of the first key that is not less than `key`. Tries the end first, where most rows are added.
function placeOf(keys: readonly string[], key: string): number {
  let high = keys.length;
  if (high === 0 || (keys[high - 1] as string) < key) return high;
  let low = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
