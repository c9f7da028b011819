// Short ids: beginnings that are long enough to tell the ids of a list apart, and that every command accepts.

const leastLength = 8;
const longest = 24;

/** A function that shortens the ids of a list. Ids that are short already stay as they are. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const sorted = [...new Set(ids)].sort();
  const lengths = new Map(
    sorted.map((id, index) => {
      const shared = Math.max(sharedWith(id, sorted[index - 1]), sharedWith(id, sorted[index + 1]));
      return [id, Math.max(leastLength, shared + 1)];
    }),
  );
  return (id) => {
    const length = lengths.get(id) ?? leastLength;
    return isUuid(id) || id.length > longest ? id.slice(0, Math.max(length, isUuid(id) ? 0 : longest)) : id;
  };
}

/** The id of a run in a sentence: the beginning of a UUID, and any other id as it is, since several may begin alike. */
export function shortId(id: string): string {
  return isUuid(id) ? id.slice(0, leastLength) : id;
}

function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-|^[0-9a-f]{32}$/i.test(id);
}

function sharedWith(id: string, other: string | undefined): number {
  let length = 0;
  while (other !== undefined && length < id.length && id[length] === other[length]) length++;
  return length;
}
