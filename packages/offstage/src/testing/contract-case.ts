// A contract case: one claim about an implementation, as data, so that it can run in any test framework or in none.
import { checkRequired, someFunction } from "../base/options.ts";

/** One claim. `run` rejects if it does not hold. */
export interface ContractCase {
  readonly name: string;
  run(): Promise<void>;
}

/** A claim about a subject that its case opens. */
export interface Claim<T> {
  readonly name: string;
  claim(subject: T): Promise<void>;
}

/** A case on a subject that is opened before it and closed after it. */
export function caseOn<T extends { close?(): void | Promise<void> }>(
  open: () => T | Promise<T>,
  { name, claim }: Claim<T>,
): ContractCase {
  checkRequired("open", open, someFunction);
  return {
    name,
    async run() {
      const subject = await open();
      try {
        await claim(subject);
      } finally {
        await subject.close?.();
      }
    },
  };
}
