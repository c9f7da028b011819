// A model that streams deltas at a pace, or as fast as they are read. Each delta of a paced one says when it was made.

/** Milliseconds on a clock that the processes of one machine share. */
export const clockMs = () => Number(process.hrtime.bigint() / 1000n) / 1000;

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** The model. `everyMs` paces its deltas; without it, a stream has `deltas` of them at once. */
export function pacedModel({ deltas = Number.POSITIVE_INFINITY, everyMs }) {
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "paced",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("It only streams.")),
    async doStream({ abortSignal }) {
      let sent = -2;
      const started = clockMs();
      const stream = new ReadableStream({
        async pull(controller) {
          // By schedule, so that a late delta does not delay the next.
          const waitMs = everyMs === undefined || sent < 0 ? 0 : started + sent * everyMs - clockMs();
          if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
          if (abortSignal?.aborted) return controller.error(abortSignal.reason);
          if (sent === -2) controller.enqueue({ type: "stream-start", warnings: [] });
          else if (sent === -1) controller.enqueue({ type: "text-start", id: "1" });
          else if (sent < deltas)
            controller.enqueue({
              type: "text-delta",
              id: "1",
              delta: everyMs === undefined ? `t${sent} ` : `@${clockMs().toFixed(2)} `,
            });
          else {
            controller.enqueue({ type: "text-end", id: "1" });
            controller.enqueue({ type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage });
            controller.close();
          }
          sent++;
        },
      });
      return { stream };
    },
  };
}
