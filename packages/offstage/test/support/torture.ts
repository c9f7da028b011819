// The extent of the torture tests.

/** True with TORTURE=short, which limits the torture tests to a few minutes for continuous integration. */
export const isShort: boolean = process.env.TORTURE === "short";
