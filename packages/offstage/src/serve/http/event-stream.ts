// Events as a response of server-sent events: one reader, its own encoder, and a ping when nothing happens.

import type { Protocol, StreamPlace } from "../protocols/protocol.ts";
import type { EventReader } from "../runs/event-log.ts";

const pingMs = 15_000;
const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

/** Sends pings to all open streams of a server, by one timer. */
export class Pings {
  readonly #open = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Calls `ping` again and again, until the returned function is called. */
  add(ping: () => void): () => void {
    this.#open.add(ping);
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => {
        for (const each of this.#open) each();
      }, pingMs);
      const timer: { unref?(): void } = this.#timer;
      timer.unref?.();
    }
    return () => {
      this.#open.delete(ping);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }
}

export interface EventStreamOptions {
  readonly protocol: Protocol;
  readonly place: StreamPlace;
  readonly pings: Pings;
}

const bytes = new TextEncoder();

/** The response that streams what a reader gets. Leaving it ends the reader, and not the run. */
export function eventStream(reader: EventReader, { protocol, place, pings }: EventStreamOptions): Response {
  const encode = protocol.encoder(place);
  let stopPings: (() => void) | undefined;
  const close = (): void => {
    stopPings?.();
    reader.close();
  };
  type Controller = ReadableStreamDefaultController<Uint8Array>;
  const source = {
    start(controller: Controller) {
      // A connection that is busy or gone gets none.
      stopPings = pings.add(() => {
        if ((controller.desiredSize ?? 0) >= 0) controller.enqueue(bytes.encode(": ping\n\n"));
      });
    },
    async pull(controller: Controller) {
      try {
        const events = await reader.next();
        const chunks = events?.flatMap((event) => encode(event)) ?? [];
        const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
        if (events === undefined) {
          close();
          if (protocol.closing !== "") controller.enqueue(bytes.encode(protocol.closing));
          controller.close();
        } else controller.enqueue(bytes.encode(text));
      } catch (error) {
        close();
        controller.error(error);
      }
    },
    cancel: close,
  };
  // Nothing is read ahead, so that the end counts as seen only if the client has got what is before it.
  const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  return new Response(body, { headers: { ...headers, ...protocol.headers } });
}
