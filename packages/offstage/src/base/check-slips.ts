// Slips: a name that nobody knows and that must be meant for one that somebody does. What it says would silently not be done.
import { OffstageError } from "../errors.ts";

/** The options that somebody takes, and what is said of others. */
export interface KnownNames {
  /** An object with a field for each. */
  readonly names: object;
  /** Names of other libraries, each with what to say here. */
  readonly aliens?: Readonly<Record<string, string>>;
  /** Names that somebody else takes, each with whose option it is. */
  readonly elsewhere?: Readonly<Record<string, string>>;
}

/**
 * Throws `invalid-argument` at a name that must be a slip. Other names are the user's own and pass, as does one that is
 * near a name that is given as well. `owner` is whose options they are, as a sentence begins: "The options of a run".
 */
export function checkSlips(options: object, known: KnownNames, owner: string): void {
  const given = options as Record<string, unknown>;
  for (const name in given) {
    if (Object.hasOwn(known.names, name) || given[name] === undefined) continue;
    const hint = hintFor(name, given, known);
    if (hint !== undefined) throw new OffstageError("invalid-argument", `${owner} have no "${name}". ${hint}`);
  }
}

function hintFor(name: string, given: object, { names, aliens = {}, elsewhere = {} }: KnownNames): string | undefined {
  const meant = meantIn(aliens, name);
  const owner = meantIn(elsewhere, name);
  if (meant === undefined && owner !== undefined) return `It is an option of ${owner}.`;
  const near = meant ?? Object.keys(names).find((known) => isNear(name, known));
  return near === undefined || Object.hasOwn(given, near) ? undefined : `Did you mean "${near}"?`;
}

// However it is written: `sessionID` and `session_id` are `sessionId`.
function meantIn(table: Readonly<Record<string, string>>, name: string): string | undefined {
  const plain = plainName(name);
  return Object.entries(table).find(([each]) => plainName(each) === plain)?.[1];
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

function isNear(name: string, known: string): boolean {
  const allowed = known.length < 9 ? 1 : 2;
  return distance(plainName(name), plainName(known), allowed) <= allowed;
}

// How many letters must be put in, left out, changed or swapped with the next; more than `allowed` where the lengths say so.
function distance(from: string, to: string, allowed: number): number {
  if (Math.abs(from.length - to.length) > allowed) return allowed + 1;
  const rows = [Array.from({ length: to.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= to.length; j++) {
      const changed = at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(Math.min(changed, isSwap ? at(i - 2, j - 2) + 1 : changed, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(from.length, to.length);
}
