// Writing an export to a stream: piece by piece, waiting for the reader, so that memory does not grow with the list.
import type { Writable } from "node:stream";

export interface ExportToOptions {
  /** Ends the stream behind the last piece and waits until all is written. Standard output is never ended. Default true. */
  readonly end?: boolean;
  /** Stops the export between two pieces. */
  readonly signal?: AbortSignal;
}

/** Small pieces are gathered up to about this many bytes. */
const chunkSize = 256 * 1024;

/** Writes all pieces; resolves when the stream has taken them, rejects when it fails or the signal aborts. */
export async function writePieces(
  target: Writable | WritableStream<Uint8Array>,
  pieces: Iterable<string>,
  options: ExportToOptions = {},
): Promise<void> {
  const { end = true, signal } = options;
  const sink = "getWriter" in target ? webSink(target) : nodeSink(target);
  try {
    let written = Promise.resolve();
    for (const chunk of gathered(pieces)) {
      signal?.throwIfAborted();
      await written;
      written = sink.write(chunk);
      // Heard at the next turn of the loop; without this a failure in between would count as unheard.
      written.catch(() => {});
    }
    await written;
    await sink.finish(end);
  } catch (error) {
    sink.giveUp();
    throw error;
  }
}

// Encoded piece by piece: to join them first would copy every character once more. A chunk is never used again, since
// whoever reads the stream may still hold it.
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

// One chunk is under way while the next is made: its callback is both the back-pressure and the report of failure.
function nodeSink(stream: Writable): Sink {
  // A failed write is reported twice, to the callback and as an event; the event needs somebody to hear it.
  const heard = (): void => {};
  stream.on("error", heard);
  const done = (start: (settle: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
  return {
    write: (chunk) => done((settle) => stream.write(chunk, settle)),
    finish: async (end) => {
      if (end && stream !== process.stdout && stream !== process.stderr) await done((settle) => stream.end(settle));
      stream.off("error", heard);
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
