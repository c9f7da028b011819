// Writes an export to a stream, piece by piece and at the pace of the reader, so that memory does not grow with the list.
import type { Writable } from "node:stream";
import { type OptionRule, shownValue, yesOrNo } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";

export interface ExportToOptions {
  /** Ends the stream behind the last piece and waits until everything is written. Standard output is never ended. Default true. */
  readonly end?: boolean | undefined;
  /** Stops the export between two pieces. */
  readonly signal?: AbortSignal | undefined;
}

export const exportToRules: Readonly<Record<keyof ExportToOptions, OptionRule>> = {
  end: yesOrNo,
  signal: { isFit: (value) => value instanceof AbortSignal, words: "an AbortSignal" },
};

/** The size of a chunk in bytes: small pieces are joined up to it. */
const chunkSize = 256 * 1024;

/** Writes all pieces. Resolves when the stream has accepted them; rejects if it fails or the signal aborts. */
export async function writePieces(
  target: Writable | WritableStream<Uint8Array>,
  pieces: Iterable<string>,
  options: ExportToOptions = {},
): Promise<void> {
  const { end = true, signal } = options;
  const sink = sinkOf(target);
  try {
    let written = Promise.resolve();
    for (const chunk of gathered(pieces)) {
      signal?.throwIfAborted();
      await written;
      written = sink.write(chunk);
      // Awaited in the next round; until then a failure must not count as unhandled.
      written.catch(() => {});
    }
    await written;
    await sink.finish(end);
  } catch (error) {
    sink.giveUp();
    throw error;
  }
}

// Encodes piece by piece: joining the pieces first would copy every character once more. Every chunk is a new buffer, because a reader may
// keep it.
function* gathered(pieces: Iterable<string>): Iterable<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(chunkSize);
  let size = 0;
  for (const piece of pieces) {
    const most = piece.length * 3;
    if (size + most > chunk.length) {
      if (size > 0) yield chunk.subarray(0, size);
      chunk = Buffer.allocUnsafeSlow(Math.max(chunkSize, most));
      size = 0;
    }
    size += chunk.write(piece, size);
  }
  if (size > 0) yield chunk.subarray(0, size);
}

interface Sink {
  write(chunk: Uint8Array): Promise<void>;
  finish(end: boolean): Promise<void>;
  giveUp(): void;
}

function sinkOf(target: unknown): Sink {
  if (typeof target === "object" && target !== null) {
    if ("getWriter" in target) return webSink(target as WritableStream<Uint8Array>);
    if ("write" in target) return nodeSink(target as Writable);
  }
  const sentence = `exportTo() needs a stream to write to, of Node or of the web; found ${shownValue(target)}.`;
  throw new OffstageError("invalid-argument", sentence);
}

// One chunk is written while the next is made. The callback of a write is both the back-pressure and the report of failure.
function nodeSink(stream: Writable): Sink {
  // A failed write is reported twice, to the callback and as an event. An event without a listener would end the process.
  const ignore = (): void => {};
  stream.on("error", ignore);
  const done = (start: (settle: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
  return {
    write: (chunk) => done((settle) => stream.write(chunk, settle)),
    finish: async (end) => {
      if (end && stream !== process.stdout && stream !== process.stderr) await done((settle) => stream.end(settle));
      stream.off("error", ignore);
    },
    giveUp: () => {},
  };
}

function webSink(stream: WritableStream<Uint8Array>): Sink {
  const writer = stream.getWriter();
  return {
    write: (chunk) => writer.write(chunk),
    finish: async (end) => {
      if (end) await writer.close();
      writer.releaseLock();
    },
    giveUp: () => writer.releaseLock(),
  };
}
