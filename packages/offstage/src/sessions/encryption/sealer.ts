// Encrypts and authenticates text under a key and a place. No storage; see sealed-rows.ts.
import { OffstageError } from "../../errors.ts";

export interface EncryptionOptions {
  /** The key for writing: 32 bytes, or the same as hex or base64 text. */
  readonly key: Uint8Array | string;
  /** The name of that key, stored with each value. Default "1". */
  readonly keyId?: string | undefined;
  /** Earlier keys by name, to read values that were encrypted with them. */
  readonly earlierKeys?: Readonly<Record<string, Uint8Array | string>> | undefined;
}

export interface Sealer {
  readonly keyId: string;
  knows(keyId: string): boolean;
  /** Encrypts a text. Deterministic for each place. */
  seal(place: string, text: string): string;
  /** Decrypts a text; undefined if it was modified or belongs to another place. Throws for a key id that was not passed. */
  open(place: string, sealed: string): string | undefined;
  /** A keyed hash of a text. */
  hash(text: string): string;
  /** True if a text is encrypted with the current key. */
  isCurrent(sealed: string): boolean;
}

interface Keys {
  readonly cipher: Uint8Array;
  readonly nonce: Uint8Array;
  readonly hash: Uint8Array;
}

const form = /^1\.([\w-]{1,64})\.([\w-]{16})\.([\w-]{22,})$/;

export function sealerOf({ key, keyId = "1", earlierKeys = {} }: EncryptionOptions): Sealer {
  const all = new Map(Object.entries({ ...earlierKeys, [keyId]: key }).map(([id, each]) => [id, keysOf(id, each)]));
  const current = all.get(keyId) as Keys;
  return {
    keyId,
    knows: (id) => all.has(id),
    seal: (place, text) => `1.${keyId}.${encrypt(current, place, text)}`,
    open: (place, sealed) => {
      const [, id = "", nonce = "", body = ""] = form.exec(sealed) ?? [];
      if (id === "") return undefined;
      const keys = all.get(id);
      if (keys === undefined) throw unknownKey(id);
      return decrypt(keys, place, { nonce, body });
    },
    hash: (text) => nodeCrypto().createHmac("sha256", current.hash).update(text).digest("hex").slice(0, 32),
    isCurrent: (sealed) => form.exec(sealed)?.[1] === keyId,
  };
}

// The nonce is derived from place and text, so it repeats only if the result is the same.
function encrypt({ cipher: key, nonce: nonceKey }: Keys, place: string, text: string): string {
  const nonce = nodeCrypto().createHmac("sha256", nonceKey).update(`${place}\0${text}`).digest().subarray(0, 12);
  const cipher = nodeCrypto().createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${nonce.toString("base64url")}.${body.toString("base64url")}`;
}

function decrypt(
  { cipher: key }: Keys,
  place: string,
  sealed: { readonly nonce: string; readonly body: string },
): string | undefined {
  const nonce = Buffer.from(sealed.nonce, "base64url");
  const body = Buffer.from(sealed.body, "base64url");
  // Base64 ignores some bits, which could be changed unnoticed.
  if (nonce.toString("base64url") !== sealed.nonce || body.toString("base64url") !== sealed.body) return undefined;
  const decipher = nodeCrypto()
    .createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: 16 })
    .setAAD(Buffer.from(place));
  decipher.setAuthTag(body.subarray(-16));
  try {
    return decipher.update(body.subarray(0, -16), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}

function keysOf(id: string, key: Uint8Array | string): Keys {
  if (!/^[\w-]{1,64}$/.test(id)) throw invalid(`A key id must be 1 to 64 letters, digits, "_" or "-"; found "${id}".`);
  const bytes = typeof key === "string" ? Buffer.from(key, /^[0-9a-f]{64}$/i.test(key) ? "hex" : "base64") : key;
  if (!(bytes instanceof Uint8Array) || bytes.length !== 32)
    throw invalid(`Key "${id}" must be 32 bytes, as a Uint8Array, 64 hex digits or base64; found ${shownKey(key)}.`);
  const derive = (purpose: string): Uint8Array =>
    new Uint8Array(nodeCrypto().hkdfSync("sha256", bytes, "offstage", purpose, 32));
  return { cipher: derive("cipher"), nonce: derive("nonce"), hash: derive("hash") };
}

// Shows only the length: keys are secret.
function shownKey(key: unknown): string {
  if (typeof key === "string") return `text of ${key.length} characters`;
  return key instanceof Uint8Array ? `${key.length} bytes` : typeof key;
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}

function unknownKey(id: string): Error {
  return new Error(`it was encrypted with key "${id}", which was not passed. Add that key to "earlierKeys"`);
}

// Loaded on first use.
function nodeCrypto(): typeof import("node:crypto") {
  return process.getBuiltinModule("node:crypto");
}
