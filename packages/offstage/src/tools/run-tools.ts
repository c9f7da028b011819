// Runs the calls of one step, so many at a time, and gives their results in call order whatever finishes first.
import type { StepToolCall } from "../state/step.ts";

/**
 * The results of the calls, in call order; at most `maxParallel` run at once. When one rejects, no further one starts,
 * and the rejection waits for those that had: nothing runs on behind a run that is over.
 */
export async function runTools<Result>(
  calls: readonly StepToolCall[],
  maxParallel: number,
  run: (call: StepToolCall, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(calls.length);
  const failures: unknown[] = [];
  let next = 0;
  const work = async () => {
    while (next < calls.length && failures.length === 0) {
      const index = next++;
      try {
        results[index] = await run(calls[index] as StepToolCall, index);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxParallel, calls.length) }, work));
  if (failures.length > 0) throw failures[0];
  return results;
}
