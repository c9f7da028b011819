// Append for immutable lists whose versions share one array: amortised O(1), and no version sees the items of another.

/**
 * The array for a version of `length + added.length` items. The newest version grows the shared array; an older one, and an empty one,
 * copies its part first.
 */
export function appendShared<T>(shared: T[], length: number, added: readonly T[]): T[] {
  const isNewest = shared.length === length && length > 0;
  const backing = isNewest ? shared : shared.slice(0, length);
  for (const item of added) backing.push(item);
  return backing;
}
