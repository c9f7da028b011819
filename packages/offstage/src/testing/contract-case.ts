// A contract case: one claim about an implementation, as data. Any test framework can run it, or none.

/** One claim: `run` rejects where it does not hold. */
export interface ContractCase {
  readonly name: string;
  run(): Promise<void>;
}

/** A claim about something that a case opens. */
export interface Claim<T> {
  readonly name: string;
  claim(subject: T): Promise<void>;
}

/** A case on something that is opened for it and closed after it. */
export function caseOn<T extends { close?(): void | Promise<void> }>(
  open: () => T | Promise<T>,
  { name, claim }: Claim<T>,
): ContractCase {
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
