// Clipping by bytes, between code points, with a mark that says how much is missing.

export interface Clipped {
  readonly text: string;
  /** How many bytes of the original are not in the text. */
  readonly clippedBytes: number;
}

/** The text in at most `maxBytes` of UTF-8, including the mark. A budget too small for the mark leaves the mark out. */
export function clip(text: string, maxBytes: number): Clipped {
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

/** The longest prefix of a text that takes at most `maxBytes` of UTF-8. A lone surrogate in it becomes U+FFFD. */
export function utf8Prefix(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at least one byte, so only the first `maxBytes` units can be part of it.
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(Math.trunc(maxBytes), bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
