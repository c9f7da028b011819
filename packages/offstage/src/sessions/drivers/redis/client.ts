// The connection to a Redis server: a client of the optional package "@redis/client" or one of the caller, scripts, and typed errors.
import { createHash } from "node:crypto";
import { loadPackage } from "../../../base/load-package.ts";
import { isOffstageError, messageOf, OffstageError } from "../../../errors.ts";
import { encodeHint, placeOf } from "../../ports/address.ts";

export interface RedisOptions {
  /** redis://user:password@host:port/database. The store creates a client, and closes it. */
  readonly url?: string | undefined;
  /** A connected client of the caller, of "@redis/client" or "ioredis". The store never closes it. */
  readonly client?: RedisClient | undefined;
  /** The prefix of every key, in braces, so that a cluster keeps them in one slot. Default "offstage". */
  readonly prefix?: string | undefined;
  /**
   * Sessions expire, each as a whole, when nothing was written to them for this long. An open run writes every two seconds. Pass
   * the same time in every process that writes. Default: sessions never expire.
   */
  readonly ttlMs?: number | undefined;
}

/** The part of a client that a store needs: one of two ways to send a command. */
export type RedisClient =
  | { sendCommand(args: string[]): Promise<unknown> }
  | { call(command: string, ...args: string[]): Promise<unknown> };

// Takes a list: the arguments of a large write would overflow the stack if spread.
type Send = (args: string[]) => Promise<unknown>;

export interface RedisConnection {
  /** The place, as errors name it. */
  readonly name: string;
  /** Sends a command. Connects first if necessary. */
  readonly send: Send;
  /** Runs a script by its hash; if the server does not know it yet, by its text. */
  run(script: string, args: readonly string[]): Promise<unknown>;
  /** Closes the client, unless it belongs to the caller. The next command connects again. */
  close(): Promise<void>;
}

/** Creates a connection. `base`, the start of every key, is the only key that scripts are given. */
export function redisConnection(options: RedisOptions, base: string): RedisConnection {
  const name = nameOf(options);
  let connecting: Promise<Connected> | undefined;
  const send: Send = async (args) => {
    try {
      connecting ??= connect(options).catch((error) => {
        connecting = undefined;
        throw error;
      });
      return await (await connecting).send(args);
    } catch (error) {
      throw typedError(error, name);
    }
  };
  return {
    name,
    send,
    run: async (script, args) => {
      const sha = createHash("sha1").update(script).digest("hex");
      try {
        return await send(["EVALSHA", sha, "1", base, ...args]);
      } catch (error) {
        if (!messageOf(error).includes("NOSCRIPT")) throw error;
        return send(["EVAL", script, "1", base, ...args]);
      }
    },
    close: async () => {
      const last = connecting;
      connecting = undefined;
      await (await last?.catch(() => undefined))?.end?.();
    },
  };
}

interface Connected {
  readonly send: Send;
  /** Closes the client; undefined for a client of the caller. */
  end?(): Promise<void>;
}

async function connect({ url, client }: RedisOptions): Promise<Connected> {
  if (client !== undefined) return { send: sender(client) };
  const { createClient } = await loadClient();
  let isConnected = false;
  const reconnectStrategy = (retries: number): number | false => (isConnected ? Math.min(retries * 50, 1_000) : false);
  const settings = { disableOfflineQueue: true, socket: { reconnectStrategy, connectTimeout: 5_000 } };
  const create = (): ReturnType<typeof createClient> => {
    try {
      return createClient(url === undefined ? settings : { ...settings, url });
    } catch (error) {
      // Without a cause: the client's error holds the address with its password.
      const message = `${nameOf({ url })} has an invalid address (${messageOf(error)}). ${encodeHint}`;
      throw new OffstageError("invalid-argument", message);
    }
  };
  const own = create();
  // The client reconnects on its own; a command that fails meanwhile reports the error.
  own.on("error", () => {});
  await own.connect();
  isConnected = true;
  return { send: sender(own), end: async () => own.destroy() };
}

function sender(client: RedisClient): Send {
  if ("sendCommand" in client) return (args) => client.sendCommand(args);
  return ([command = "", ...args]) => client.call(command, ...args);
}

function loadClient(): Promise<typeof import("@redis/client")> {
  return loadPackage(() => import("@redis/client"), { name: "@redis/client", user: "A Redis store" });
}

function isConnectionError(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  const words = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)|closed|offline|connect|timeout|disconnect/i;
  return /^E[A-Z]+$/.test(String(code)) || words.test(`${messageOf(error)} ${String(name)}`);
}

function typedError(error: unknown, name: string): Error {
  if (isOffstageError(error)) return error;
  const message = messageOf(error);
  if (message.includes("NOSCRIPT")) return error as Error;
  const say = (code: OffstageError["code"], what: string): OffstageError =>
    new OffstageError(code, `${name} ${what} (${message})`, { cause: error });
  if (isConnectionError(error)) return say("store-connection", "cannot be reached.");
  if (message.includes("OOM")) return say("store-full", "is out of memory. Nothing was written.");
  if (/READONLY|MISCONF/.test(message)) return say("store-read-only", "cannot be written. Connect to the primary.");
  if (message.includes("WRONGTYPE"))
    return say("store-foreign", "contains keys of another program. Use another prefix.");
  if (/Expected .* but found/.test(message)) return say("store-corrupt", "has a row that is not JSON.");
  return say("store-failed", "failed.");
}

function nameOf({ url, client }: RedisOptions): string {
  if (client !== undefined) return "Redis";
  if (url === undefined) throw new OffstageError("invalid-argument", 'A Redis store needs "url" or "client".');
  return `Redis at "${placeOf(url)}"`;
}
