// How often a test repeats its check: the slow suite runs all repetitions, and `npm test` a fifth of them.

/** Returns `count` in the slow suite, which runs every file that calls this, and a fifth of it otherwise. */
export function fullOrFifth(count: number): number {
  return process.env.OFFSTAGE_TEST_COUNTS === "full" ? count : count / 5;
}
