// Row sums: what tells that a row is as it was written. A flipped bit in a text is invisible to SQLite.
import { crc32 } from "node:zlib";

/** The CRC-32 of list, key and value, with blanks between them. List and key are ASCII. */
export function rowSum(list: string, key: string, value: string): number {
  // Begun by hand: to join the three texts first costs more than all the rest.
  return crc32(value, (withText(withText(-1, list), key) ^ -1) >>> 0);
}

// Written out twice: before the engine inlines it, a call for every letter costs more than the sum.
function withText(sum: number, text: string): number {
  let rest = sum;
  for (let i = 0; i < text.length; i++) rest = (table[(rest ^ text.charCodeAt(i)) & 0xff] as number) ^ (rest >>> 8);
  return (table[(rest ^ blank) & 0xff] as number) ^ (rest >>> 8);
}

const blank = 0x20;
const table: readonly number[] = Array.from({ length: 256 }, remainderOf);

function remainderOf(_: unknown, byte: number): number {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ 0xedb88320;
  return rest | 0;
}
