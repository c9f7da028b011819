// W3C ids from strong random bytes, cheap enough for one per span. Not where ids are kept.

const poolBytes = 4096;

/** Makes ids. Span ids are minted from a sequence number, so that a span whose id nobody reads never makes one. */
export interface TraceIds {
  /** A fresh trace id: 32 hex digits. */
  traceId(): string;
  /** The next sequence number for `spanId`. */
  nextSpan(): number;
  /** The span id of a sequence number: 16 hex digits, unique in this process, random across processes. */
  spanId(sequence: number): string;
}

/** A maker of ids with its own random seed. */
export function traceIds(): TraceIds {
  const pool = Buffer.allocUnsafeSlow(poolBytes);
  let used = poolBytes;
  let spans = 0;

  function take(bytes: number): string {
    if (used + bytes > poolBytes) {
      process.getBuiltinModule("node:crypto").randomFillSync(pool);
      used = 0;
    }
    used += bytes;
    return pool.toString("hex", used - bytes, used);
  }

  // Made with the first id: loading the source of randomness takes longer than all the rest.
  let isSeeded = false;
  let seedHigh = 0;
  let seedLow = 0;
  function seed(): void {
    isSeeded = true;
    seedHigh = Number.parseInt(take(4), 16);
    seedLow = Number.parseInt(take(4), 16);
  }

  return {
    traceId() {
      const id = take(16);
      return id === "0".repeat(32) ? take(16) : id;
    },
    nextSpan: () => ++spans,
    spanId(sequence) {
      if (!isSeeded) seed();
      const low = scramble(sequence + seedLow);
      const high = (seedHigh + Math.floor(sequence / 2 ** 32)) ^ scramble(low ^ seedHigh);
      return high === 0 && low === 0 ? hex(0, 1) : hex(high, low);
    },
  };
}

// Sixteen digits in one call: no rope, no buffer.
function hex(high: number, low: number): string {
  return String.fromCharCode(
    digit(high >>> 28),
    digit(high >>> 24),
    digit(high >>> 20),
    digit(high >>> 16),
    digit(high >>> 12),
    digit(high >>> 8),
    digit(high >>> 4),
    digit(high),
    digit(low >>> 28),
    digit(low >>> 24),
    digit(low >>> 20),
    digit(low >>> 16),
    digit(low >>> 12),
    digit(low >>> 8),
    digit(low >>> 4),
    digit(low),
  );
}

// The character code of the lowest four bits: "0" is 48, "a" is 97.
function digit(bits: number): number {
  const value = bits & 15;
  return value < 10 ? 48 + value : 87 + value;
}

// A bijection of 32-bit integers (the finaliser of MurmurHash3): neighbours come out far apart, and no two alike.
function scramble(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) | 0;
}
