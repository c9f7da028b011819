// offstage trace: the spans of a run or a trace, as a waterfall.
import type { SpanData } from "../../../tracing/span-data.ts";
import { type Command, defineCommand } from "../../command.ts";
import { fit } from "../../output/columns.ts";
import { waterfallLines } from "../../output/waterfall.ts";
import { counted, duration } from "../../output/words.ts";
import { findRunId, NotFound } from "../../store/find.ts";

export const command: Command = defineCommand({
  options: {},
  examples: ["offstage trace last", "offstage trace 3f9a --json"],
  keys: [
    "traceId",
    "spanId",
    "parentSpanId",
    "name",
    "kind",
    "status",
    "startTime",
    "endTime",
    "durationMs",
    "metadata",
    "content",
  ],
  async run({ positionals: [wanted = "last"] }, io) {
    const store = await io.openStore();
    const isTrace = /^[0-9a-f]{32}$/.test(wanted);
    const ofTrace = isTrace ? await store.spans.list({ traceId: wanted }) : [];
    const spans = ofTrace.length > 0 ? ofTrace : await store.spans.list({ runId: await findRunId(store, wanted) });
    if (spans.length === 0)
      throw new NotFound(`"${wanted}" has no spans on record. Tracing was off, or it has not ended.`);
    if (io.isJson) {
      for (const span of spans) io.record(asJson(span));
      return 0;
    }
    const begin = Math.min(...spans.map(({ startTime }) => startTime));
    const end = Math.max(...spans.map(({ startTime, endTime }) => endTime ?? startTime));
    io.print(io.paint("bold", fit(`${io.inline(spans[0]?.traceName ?? spans[0]?.name ?? "")}`, io.width)));
    io.print(
      io.paint(
        "dim",
        fit(
          `trace ${io.inline(spans[0]?.traceId ?? "")} · ${counted(spans.length, "span")} · ${duration(end - begin)}`,
          io.width,
        ),
      ),
    );
    for (const line of waterfallLines(io, spans)) io.print(line);
    return 0;
  },
});

function asJson({ traceId, spanId, parentSpanId, name, kind, status, startTime, endTime, ...span }: SpanData): object {
  return {
    ...{ traceId, spanId, parentSpanId: parentSpanId ?? null, name, kind, status, startTime },
    ...{
      endTime: endTime ?? null,
      durationMs: span.duration ?? null,
      metadata: span.metadata,
      content: span.content ?? null,
    },
  };
}
