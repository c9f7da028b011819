// One run with what belongs to it: its tool calls with their durations, its feedback, and the title of its session.

import type { Annotation, FoundRun, SessionInfo } from "../../doors/sessions.ts";
import { type Message, resultStatus, textOf, toolCallsOf } from "../../messages/message.ts";
import type { Store } from "../../sessions/store.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import type { ShownCall } from "../output/calls.ts";
import { duration } from "../output/words.ts";
import { findRunId, NotFound } from "./find.ts";

export interface RunDetail {
  readonly run: FoundRun;
  readonly session: SessionInfo | undefined;
  readonly annotations: readonly Annotation[];
  readonly spans: readonly SpanData[];
}

/** Everything about the run that a text means. */
export async function runDetail(store: Store, text: string): Promise<RunDetail> {
  const runId = await findRunId(store, text);
  const run = await store.runs.get(runId);
  if (run === undefined) throw new NotFound(`The run "${runId}" cannot be read.`);
  const [session, annotations, spans] = await Promise.all([
    store.sessions.get(run.sessionId),
    store.runs.annotations(runId),
    store.spans.list({ runId }),
  ]);
  return { run, session, annotations, spans };
}

export interface CallDetail extends ShownCall {
  readonly toolCallId: string;
  readonly durationMs: number | undefined;
  readonly childRunId: string | undefined;
}

/** The calls of a step, in order, with their results. */
export function callsOf(messages: readonly Message[], { spans, run }: Pick<RunDetail, "spans" | "run">): CallDetail[] {
  const results = new Map(
    messages.flatMap((message) => (message.role === "tool" ? [[message.tool_call_id, message]] : [])),
  );
  return messages.flatMap((message) =>
    toolCallsOf(message).map(({ id, function: { name, arguments: inputText } }): CallDetail => {
      const result = results.get(id);
      const span = spans.find(({ kind, metadata }) => kind === "tool" && metadata.toolCallId === id);
      const status = statusOf(result, id, run);
      // The span of an interrupted call tells when the run was resumed, not how long the call ran.
      const durationMs = status === "interrupted" ? undefined : span?.duration;
      const child = run.children.find(({ parentToolCallId }) => parentToolCallId === id);
      return {
        ...{ toolCallId: id, toolName: name, inputText },
        resultText: result === undefined ? undefined : textOf(result),
        status,
        took: duration(durationMs),
        durationMs,
        childRunId: child?.runId,
      };
    }),
  );
}

function statusOf(result: Message | undefined, id: string, { openStep, status }: FoundRun): ShownCall["status"] {
  if (result !== undefined) return resultStatus(result);
  if (openStep?.waiting?.includes(id) === true) return "waiting";
  return status === "running" ? "waiting" : "interrupted";
}
