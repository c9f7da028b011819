// A proxy in front of a server: a connection on which a client says a certain text is held back from there on, until it is let through.
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";

export interface DelayingProxy {
  /** The address of the server, by way of the proxy. */
  readonly url: string;
  /** Resolves when a client has said the text. */
  readonly held: Promise<void>;
  /** Lets the server have what was held back, though its client may be gone; resolves with what the server says to it. */
  release(): Promise<string>;
  stop(): void;
}

/** Delays what clients say from `text` on, on their way to the server at `url`. */
export async function delayingProxy(url: string, text: string): Promise<DelayingProxy> {
  const target = new URL(url);
  const held = Promise.withResolvers<void>();
  const open = new Set<Socket>();
  let late: { readonly server: Socket; readonly data: Buffer[] } | undefined;
  const listener = createServer((client) => {
    const server = dial(Number(target.port), target.hostname);
    for (const socket of [client, server]) open.add(socket.on("error", () => {}));
    client.on("data", (data) => {
      if (late === undefined && data.includes(text)) {
        late = { server, data: [] };
        held.resolve();
      }
      if (late?.server === server) late.data.push(data);
      else server.write(data);
    });
    client.on("close", () => late?.server !== server && server.destroy());
    server.on("data", (data) => client.writable && client.write(data));
    server.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    url: through.href,
    held: held.promise,
    release: () =>
      new Promise((resolve, reject) => {
        if (late === undefined) return reject(new Error("Nothing was held back."));
        late.server.once("data", (reply: Buffer) => resolve(reply.toString()));
        late.server.write(Buffer.concat(late.data));
      }),
    stop: () => {
      for (const socket of open) socket.destroy();
      listener.close();
    },
  };
}
