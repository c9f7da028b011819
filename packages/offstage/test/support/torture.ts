// How much the torture tests do.

/** TORTURE=short asks for what continuous integration has time for: a few minutes for all of them. */
export const isShort: boolean = process.env.TORTURE === "short";
