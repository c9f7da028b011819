// Runs the calls of one step, so many at a time, and gives their results in call order whatever finishes first.
import type { StepToolCall } from "../state/step.ts";

/** The results of the calls, in call order; at most `maxParallel` run at once. */
export async function runTools<Result>(
  calls: readonly StepToolCall[],
  maxParallel: number,
  run: (call: StepToolCall) => Promise<Result>,
): Promise<Result[]> {
  const [only] = calls;
  if (calls.length === 1 && only !== undefined) return [await run(only)];
  if (calls.length <= maxParallel) return Promise.all(calls.map(run));
  const results = new Array<Result>(calls.length);
  let next = 0;
  const work = async () => {
    while (next < calls.length) {
      const index = next++;
      results[index] = await run(calls[index] as StepToolCall);
    }
  };
  await Promise.all(Array.from({ length: maxParallel }, work));
  return results;
}
