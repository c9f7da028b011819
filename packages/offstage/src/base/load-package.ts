// Optional packages: loaded on first use, so that a program which does not use them need not install them.
import { OffstageError } from "../errors.ts";

export interface OptionalPackage {
  readonly name: string;
  /** The function or the object that needs it, as the beginning of a sentence. */
  readonly user: string;
  /** The version to install. Default: the newest. */
  readonly version?: string | undefined;
}

/** Imports a package. Rejects with `missing-package` if it is not installed. */
export async function loadPackage<Package>(load: () => Promise<Package>, optional: OptionalPackage): Promise<Package> {
  try {
    return await load();
  } catch (cause) {
    throw missingPackage(optional, cause);
  }
}

/** The error for a package that is not installed. */
export function missingPackage({ name, user, version }: OptionalPackage, cause: unknown): OffstageError {
  const install = version === undefined ? name : `${name}@${version}`;
  const message = `${user} needs the package "${name}". Install it: npm install ${install}`;
  return new OffstageError("missing-package", message, { cause });
}
