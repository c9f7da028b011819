// A proxy in front of a server. Once a client sends a certain text, its connection is delayed from there on until released.
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";

export interface DelayingProxy {
  /** The address of the server through the proxy. */
  readonly url: string;
  /** Resolves when a client has sent the text. */
  readonly held: Promise<void>;
  /** Sends the delayed data to the server, even if its client has gone, and resolves with the server's reply. */
  release(): Promise<string>;
  stop(): void;
}

/** Starts a proxy for the server at `url` that delays the first connection on which a client sends `text`. */
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
        if (late === undefined) return reject(new Error("Nothing was delayed."));
        late.server.once("data", (reply: Buffer) => resolve(reply.toString()));
        late.server.write(Buffer.concat(late.data));
      }),
    stop: () => {
      for (const socket of open) socket.destroy();
      listener.close();
    },
  };
}
