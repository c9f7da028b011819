// A name that nobody knows and that is nearly one that somebody does: what it says would silently not be done.
import { OffstageError } from "../errors.ts";

/** The options that somebody takes, and what other libraries call them. */
export interface KnownNames {
  readonly names: Readonly<Record<string, true>>;
  /** What they are called elsewhere, each with what to say here. */
  readonly aliens?: Readonly<Record<string, string>>;
}

/**
 * Throws `invalid-argument` at a name that must be a slip. Other names are the user's own and pass, as does one that is
 * near a name that is given as well. `owner` is whose options they are, as a sentence begins: "The options of a run".
 */
export function checkSlips(options: object, { names, aliens = {} }: KnownNames, owner: string): void {
  const given = options as Record<string, unknown>;
  for (const name in given) {
    if (names[name] === true || given[name] === undefined) continue;
    const meant = Object.hasOwn(aliens, name) ? aliens[name] : nearName(name, given, names);
    if (meant !== undefined)
      throw new OffstageError("invalid-argument", `${owner} have no "${name}". Did you mean "${meant}"?`);
  }
}

function nearName(name: string, given: object, names: KnownNames["names"]): string | undefined {
  return Object.keys(names).find((known) => !Object.hasOwn(given, known) && isNear(name, known));
}

function isNear(name: string, known: string): boolean {
  const allowed = known.length < 6 ? 1 : 2;
  return distance(name.toLowerCase(), known.toLowerCase(), allowed) <= allowed;
}

// How many letters must be put in, left out or changed; more than `allowed` where the lengths alone say so.
function distance(from: string, to: string, allowed: number): number {
  if (Math.abs(from.length - to.length) > allowed) return allowed + 1;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
