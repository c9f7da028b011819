// Clipping by bytes, on a code-point boundary, with a mark that says how much is missing.

export interface Clipped {
  readonly text: string;
  /** How many bytes of the original are not in the text. */
  readonly clippedBytes: number;
}

/** The text in at most `maxBytes` of UTF-8, its mark included. A budget too small for the mark leaves it out. */
export function clip(text: string, maxBytes: number): Clipped {
  if (text.length * 3 <= maxBytes) return { text, clippedBytes: 0 };
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return { text, clippedBytes: 0 };
  const room = maxBytes - markOf(bytes).length;
  const kept = utf8Prefix(text, room < 0 ? maxBytes : room);
  const clippedBytes = bytes - Buffer.byteLength(kept);
  return { text: room < 0 ? kept : kept + markOf(clippedBytes), clippedBytes };
}

function markOf(bytes: number): string {
  return `\n[clipped, ${bytes} bytes]`;
}

/** The longest beginning of a text that takes at most `maxBytes` of UTF-8; a lone surrogate in it becomes U+FFFD. */
export function utf8Prefix(text: string, maxBytes: number): string {
  // UTF-16 units never take fewer bytes than one each, so only the first `maxBytes` units need to be encoded.
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(Math.trunc(maxBytes), bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
