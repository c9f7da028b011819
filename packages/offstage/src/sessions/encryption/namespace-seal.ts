// The row of a namespace: plain or encrypted, and with which keys. It is written before any other row, so that plain and
// encrypted rows never mix, and a wrong key is refused before anything is written.
import { isObject, type JsonObject, parseJson } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import type { Row } from "../ports/store-driver.ts";
import type { NamespaceRow } from "../ports/tables.ts";
import type { Sealer } from "./sealer.ts";

const proofText = "offstage";

interface Place {
  /** The store, as errors name it. */
  readonly name: string;
  readonly namespace: string;
}

/**
 * The row that a namespace must have before the first write; undefined if it has it already. Throws `wrong-key` if the namespace is
 * plain and `sealer` is not, or the reverse, or if the keys are not those that it was encrypted with.
 */
export function namespaceRow(
  place: Place,
  found: Row | undefined,
  sealer: Sealer | undefined,
): NamespaceRow | undefined {
  if (found !== undefined) checkKind(place, found, sealer);
  if (sealer === undefined)
    return found === undefined ? newRow(place, { is_sealed: false, key_proofs: null }) : undefined;
  const proofs = found === undefined ? {} : proofsOf(place, found);
  if (found !== undefined) checkProofs(place, proofs, sealer);
  if (typeof proofs[sealer.keyId] === "string") return undefined;
  const all = { ...proofs, [sealer.keyId]: sealer.seal(proofPlace(place, sealer.keyId), proofText) };
  const key_proofs = JSON.stringify(all);
  return found === undefined
    ? newRow(place, { is_sealed: true, key_proofs })
    : { ...(found as unknown as NamespaceRow), key_proofs };
}

/** The row without the proofs of earlier keys, which then no longer open the namespace. */
export function withCurrentKeyOnly(place: Place, found: Row, sealer: Sealer): NamespaceRow {
  const { [sealer.keyId]: current } = proofsOf(place, found);
  return { ...(found as unknown as NamespaceRow), key_proofs: JSON.stringify({ [sealer.keyId]: current }) };
}

function newRow({ namespace }: Place, kind: Pick<NamespaceRow, "is_sealed" | "key_proofs">): NamespaceRow {
  return { namespace, ...kind, created_at: new Date().toISOString() };
}

function checkKind({ name, namespace }: Place, { is_sealed }: Row, sealer: Sealer | undefined): void {
  if (typeof is_sealed !== "boolean") throw damaged(name, namespace);
  if (is_sealed === true && sealer === undefined)
    throw wrongKey(`${name} is encrypted. Open it with encryptedStore().`);
  if (is_sealed === false && sealer !== undefined)
    throw wrongKey(`${name} is not encrypted. Open it without encryptedStore(), or use another place or namespace.`);
}

function proofsOf({ name, namespace }: Place, { key_proofs }: Row): JsonObject {
  const proofs = parseJson(String(key_proofs));
  if (isObject(proofs)) return proofs as JsonObject;
  throw damaged(name, namespace);
}

function damaged(name: string, namespace: string): OffstageError {
  const sentence = `Damage in the row of namespace "${namespace}" in ${name}. Nothing was changed.`;
  return new OffstageError("store-corrupt", sentence);
}

// Every known key must be the right one, and at least one must be known: otherwise nothing could be read.
function checkProofs(place: Place, proofs: JsonObject, sealer: Sealer): void {
  const known = Object.keys(proofs).filter((keyId) => sealer.knows(keyId));
  for (const keyId of known)
    if (sealer.open(proofPlace(place, keyId), String(proofs[keyId])) !== proofText)
      throw wrongKey(`${place.name} was encrypted with another key than the one passed as "${keyId}".`);
  if (known.length === 0)
    throw wrongKey(
      `${place.name} was encrypted with ${Object.keys(proofs)
        .map((keyId) => `key "${keyId}"`)
        .join(", ")}, and only key "${sealer.keyId}" was passed. Pass the earlier key too, in "earlierKeys".`,
    );
}

function proofPlace({ namespace }: Place, keyId: string): string {
  return JSON.stringify(["namespaces", namespace, keyId]);
}

function wrongKey(sentence: string): OffstageError {
  return new OffstageError("wrong-key", `${sentence} Nothing was changed.`);
}
