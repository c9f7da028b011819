// The Redis driver: rows in hashes, through the optional package "@redis/client" or a client of the caller. As durable as the server is configured.
import { createHash } from "node:crypto";
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { encodeHint, placeOf } from "../address.ts";
import type { Check, Commit, Row, RowRange, StoreDriver, Write } from "../store-driver.ts";
import { lifetimesOf } from "./redis/lifetimes.ts";
import { commitScript, getScript, readScript } from "./redis/scripts.ts";

export interface RedisOptions {
  /** redis://user:password@host:port/database. The store creates a client, and closes it. */
  readonly url?: string | undefined;
  /** A connected client of the caller, of "@redis/client" or "ioredis". The store never closes it. */
  readonly client?: RedisClient | undefined;
  /** The prefix of every key, in braces, so that a cluster keeps them in one slot. Default "offstage". */
  readonly prefix?: string | undefined;
  /**
   * Sessions expire, each as a whole, when nothing was written to them for this long. An open run writes every two seconds.
   * Default: sessions never expire.
   */
  readonly ttlMs?: number | undefined;
}

/** The part of a client that a store needs: one of two ways to send a command. */
export type RedisClient =
  | { sendCommand(args: string[]): Promise<unknown> }
  | { call(command: string, ...args: string[]): Promise<unknown> };

// Takes a list: the arguments of a large write would overflow the stack if spread.
type Send = (args: string[]) => Promise<unknown>;

/** Creates a driver on a Redis server. */
export function redisDriver(options: RedisOptions): StoreDriver {
  const { prefix = "offstage", ttlMs } = options;
  const name = nameOf(options);
  let connecting: Promise<Connection> | undefined;
  const send: Send = async (args) => {
    try {
      connecting ??= connect(options).catch((error) => {
        connecting = undefined;
        throw error;
      });
      return await (await connecting).send(args);
    } catch (error) {
      if (isOffstageError(error) || !isConnectionError(error)) throw typedError(error, name);
      throw new OffstageError("store-connection", `${name} cannot be reached. (${messageOf(error)})`, { cause: error });
    }
  };
  const base = `{${prefix}}:`;
  const hash = (list: string): string => `${base}h:${list}`;
  const keys = (list: string): string[] => [hash(list), `${base}z:${list}`];
  const schema = `${base}schema`;
  return {
    name,
    open: async () => versionOf(await send(["GET", schema]), name),
    prepare: async (version) => {
      await send(["SET", schema, String(version)]);
    },
    get: async (places) => {
      if (places.length === 0) return [];
      const args = places.map(({ key }) => key);
      const values = (await run(
        send,
        getScript,
        places.map(({ list }) => hash(list)),
        args,
      )) as (string | null)[];
      return places.map(({ key }, index) => rowOf(key, values[index]));
    },
    read: async (list, range = {}) => {
      const flat = (await run(send, readScript, keys(list), boundsOf(range))) as string[];
      return Array.from({ length: flat.length / 2 }, (_, n) => ({
        key: flat[2 * n] ?? "",
        value: flat[2 * n + 1] ?? "",
      }));
    },
    commit: async (commit) => {
      const { places, args } = commitArgs(commit, { base, ttlMs });
      const [outcome, ...current] = (await run(send, commitScript, places.flatMap(keys), args)) as (string | null)[];
      return outcome === "done" ? undefined : commit.checks.map(({ key }, index) => rowOf(key, current[index]));
    },
    close: async () => {
      const last = connecting;
      connecting = undefined;
      await (await last?.catch(() => undefined))?.end?.();
    },
  };
}

function rowOf(key: string, value: string | null | undefined): Row | undefined {
  return typeof value === "string" ? { key, value } : undefined;
}

function versionOf(found: unknown, name: string): number {
  const version = Number(found ?? 0);
  if (Number.isSafeInteger(version)) return version;
  throw new OffstageError(
    "store-foreign",
    `${name} contains keys of another program with these names. Use another prefix.`,
  );
}

function boundsOf({ from, before, limit = -1, reverse = false }: RowRange): string[] {
  const low = from === undefined ? "-" : `[${from}`;
  const high = before === undefined ? "+" : `(${before}`;
  return reverse ? ["reverse", high, low, String(limit)] : ["forward", low, high, String(limit)];
}

// Each list has two keys, so the indexes of lists are odd: 1, 3, 5 …
function commitArgs({ checks, writes }: Commit, { base, ttlMs }: Lasting): { places: string[]; args: string[] } {
  const places = [...new Set([...checks, ...writes].map(({ list }) => list))];
  const at = new Map(places.map((list, index) => [list, String(2 * index + 1)]));
  const checkArgs = ({ list, key, value }: Check): string[] => [
    at.get(list) ?? "",
    key,
    value === undefined ? "0" : "1",
    value ?? "",
  ];
  const writeArgs = ({ list, key, value }: Write): string[] => {
    const kind = key === undefined ? "list" : value === undefined ? "row" : "put";
    return [at.get(list) ?? "", kind, key ?? "", value ?? ""];
  };
  const args = [...counted(checks, checkArgs), ...counted(writes, writeArgs)];
  if (ttlMs === undefined) return { places, args: [base, "", "", ...args] };
  const { session, own, finding } = lifetimesOf(writes);
  const named = (list: string): string[] => [list];
  return { places, args: [base, String(ttlMs), session, ...args, ...counted(own, named), ...counted(finding, named)] };
}

interface Lasting {
  /** The start of every key. */
  readonly base: string;
  readonly ttlMs: number | undefined;
}

function counted<T>(all: readonly T[], argsOf: (each: T) => string[]): string[] {
  return [String(all.length), ...all.flatMap(argsOf)];
}

async function run(send: Send, script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
  const sha = createHash("sha1").update(script).digest("hex");
  try {
    return await send(["EVALSHA", sha, String(keys.length), ...keys, ...args]);
  } catch (error) {
    if (!messageOf(error).includes("NOSCRIPT")) throw error;
    return send(["EVAL", script, String(keys.length), ...keys, ...args]);
  }
}

interface Connection {
  readonly send: Send;
  /** Closes the client; undefined for a client of the caller. */
  end?(): Promise<void>;
}

async function connect({ url, client }: RedisOptions): Promise<Connection> {
  if (client !== undefined) return { send: sender(client) };
  const { createClient } = await loadPackage();
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

async function loadPackage(): Promise<typeof import("@redis/client")> {
  try {
    return await import("@redis/client");
  } catch (cause) {
    const message = 'A Redis store needs the package "@redis/client". Install it: npm install @redis/client';
    throw new OffstageError("missing-package", message, { cause });
  }
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
  const say = (
    code: "store-full" | "store-read-only" | "store-foreign" | "store-failed",
    what: string,
  ): OffstageError => new OffstageError(code, `${name} ${what} (${message})`, { cause: error });
  if (message.includes("OOM")) return say("store-full", "is out of memory. Nothing was written.");
  if (/READONLY|MISCONF/.test(message)) return say("store-read-only", "cannot be written. Connect to the primary.");
  if (message.includes("WRONGTYPE"))
    return say("store-foreign", "contains keys of another program. Use another prefix.");
  return say("store-failed", "failed.");
}

function nameOf({ url, client }: RedisOptions): string {
  if (client !== undefined) return "Redis";
  if (url === undefined) throw new OffstageError("invalid-argument", 'A Redis store needs "url" or "client".');
  return `Redis at "${placeOf(url)}"`;
}
