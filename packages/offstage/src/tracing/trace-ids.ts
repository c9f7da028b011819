// W3C ids: from strong random bytes, cheap enough for one per span, or from the id of a run. Not where ids are kept.

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

/** The trace id with the digits of a run's id, where that is a UUID. The trace that is opened for a run has it. */
export const traceIdOf: (runId: string) => string | undefined = digitsOfLast();

const traceDigits = /^(?!0{32})[0-9a-f]{32}$/;

// Who asks, asks twice: where the trace is opened, and where the run is stored.
function digitsOfLast(): (runId: string) => string | undefined {
  let last: string | undefined;
  let made: string | undefined;
  return (runId) => {
    if (runId === last) return made;
    const digits = runId.replaceAll("-", "");
    last = runId;
    made = traceDigits.test(digits) ? digits : undefined;
    return made;
  };
}

/** The run that a trace with this id would have been opened for. */
export function runIdOf(traceId: string): string {
  return traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// The character codes of the digits.
const digits: readonly number[] = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

// Sixteen digits in one call: no rope, no buffer.
function hex(high: number, low: number): string {
  return String.fromCharCode(
    digits[high >>> 28] as number,
    digits[(high >>> 24) & 15] as number,
    digits[(high >>> 20) & 15] as number,
    digits[(high >>> 16) & 15] as number,
    digits[(high >>> 12) & 15] as number,
    digits[(high >>> 8) & 15] as number,
    digits[(high >>> 4) & 15] as number,
    digits[high & 15] as number,
    digits[low >>> 28] as number,
    digits[(low >>> 24) & 15] as number,
    digits[(low >>> 20) & 15] as number,
    digits[(low >>> 16) & 15] as number,
    digits[(low >>> 12) & 15] as number,
    digits[(low >>> 8) & 15] as number,
    digits[(low >>> 4) & 15] as number,
    digits[low & 15] as number,
  );
}

// A bijection of 32-bit integers (the finaliser of MurmurHash3): neighbours come out far apart, and no two alike.
function scramble(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) | 0;
}
