// Append for immutable lists whose versions share one array: amortised O(1), and no version ever sees another's end.

/**
 * The array to use for a version of `length + added.length`. Only the newest version may grow the shared array; an
 * older one, and an empty one, takes a copy of its own part first.
 */
export function appendShared<T>(shared: T[], length: number, added: readonly T[]): T[] {
  const isNewest = shared.length === length && length > 0;
  const backing = isNewest ? shared : shared.slice(0, length);
  // By index: an iterator costs more than the push, until it is compiled away.
  for (let i = 0; i < added.length; i++) backing.push(added[i] as T);
  return backing;
}
