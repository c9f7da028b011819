// What the model is shown of a long conversation: memory chooses, compaction shortens. The state itself keeps everything.

import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import type { Compaction, ModelView } from "../../memory/compaction/compaction.ts";
import { compactor } from "../../memory/compaction/compactor.ts";
import { modelSummarizer } from "../../memory/compaction/summarize.ts";
import { type Message, textOf } from "../../messages/message.ts";
import type { Messages } from "../../messages/messages.ts";
import type { AgentState } from "../../state/agent-state.ts";
import { startSpan, type TraceSpan } from "../../tracing/trace-span.ts";
import { checkMemory } from "../config/option-rules.ts";
import { inputSections, type Run } from "../run/run.ts";

/** Where a state keeps the note of its compaction, so that it goes on in the next run. */
const metadataKey = "offstage.compaction";

const spare = 50;

/**
 * How many messages to load where the input is shortened: as many as were asked for, else what compaction has not covered,
 * where this process knows it, else everything.
 */
export function historyLimit(run: Run): number | undefined {
  if (run.options.historyLimit !== undefined) return run.options.historyLimit;
  const known = run.config.shownNotes.of(sessionIdOf(run));
  return known === undefined ? undefined : known.tail + spare;
}

function sessionIdOf(run: Run): string | undefined {
  return (run.options.session ?? run.config.options.session)?.sessionId;
}

/** Opens what shortens the run's input, going on from where an earlier run, or an earlier part of this one, left it. */
export async function openShown(run: Run, state: AgentState, recorded?: unknown): Promise<void> {
  if (!run.config.isShortened) return;
  const { compaction = compactor({ threshold: Number.POSITIVE_INFINITY }), memory } = run.config.options;
  const { tokenCounter: counter, model, call } = run.config;
  run.compaction = compaction.open({
    counter,
    signal: run.cancellation.signal,
    fixedTokens: counter.countMessages(run.instructions) + counter.count(JSON.stringify(call.tools ?? [])),
    summarize: modelSummarizer(model),
    note: recorded ?? knownNote(run, state),
    isPartial: run.log !== undefined && historyLimit(run) !== undefined,
  });
  if (memory === undefined) return;
  const given = typeof memory === "function" ? memory(sessionIdOf(run)) : memory;
  checkMemory(given);
  const feed = run.config.shownNotes.feed(given);
  const { memoryTokens = 8000 } = run.config.options;
  const remembered = async (): Promise<Message[]> => {
    const conversation = state.messages.toArray();
    await feed.add(conversation);
    const shown = await feed.shown(run.input.map(textOf).join("\n"), memoryTokens, conversation);
    if (Array.isArray(shown) && shown.every(isObject)) return shown;
    throw new OffstageError("invalid-message", "memory.getMessages() must give a list of messages.");
  };
  // A memory may ask a model or a store of its own: an abort does not wait for it.
  run.compaction.show(state, await run.cancellation.race(remembered()));
  run.feed = feed;
}

// A session's note counts only where the message it ends with is there: an id alone may be another tenant's, or cleared.
function knownNote(run: Run, state: AgentState): unknown {
  if (run.hasOwnState) return state.metadata[metadataKey];
  const note = run.config.shownNotes.of(sessionIdOf(run))?.note;
  return note !== undefined && placeOf(state, note.conversation.lastSaid) !== -1 ? note : undefined;
}

/** The sections of the next model call. Synchronous while nothing has to be made shorter. */
export function shownSections(
  run: Run,
  state: AgentState,
  span: TraceSpan,
): readonly Messages[] | Promise<readonly Messages[]> {
  const { compaction } = run;
  return compaction === undefined ? inputSections(run, state) : compactedSections(run, state, { compaction, span });
}

interface Compacting {
  readonly compaction: Compaction;
  readonly span: TraceSpan;
}

function compactedSections(run: Run, state: AgentState, { compaction, span }: Compacting) {
  const view = compaction.view(state);
  return "then" in view ? shortened(run, state, { view, parent: span }) : sectionsOf(run, view);
}

interface Shortening {
  readonly view: Promise<ModelView>;
  readonly parent: TraceSpan;
}

async function shortened(run: Run, state: AgentState, { view, parent }: Shortening): Promise<readonly Messages[]> {
  const span = startSpan(parent, { name: "compaction", kind: "compaction" });
  try {
    const made = await run.cancellation.race(view);
    if (made.compacted !== undefined) tell(run, state, made.compacted);
    if (span.recording && made.compacted !== undefined)
      span.setMetadata({
        strategy: made.compacted.strategy,
        tokensBefore: made.compacted.tokensBefore,
        tokensAfter: made.compacted.tokensAfter,
      });
    span.end(made.compacted?.error === undefined ? "ok" : "error");
    return sectionsOf(run, made);
  } catch (error) {
    span.fail(error, run.cancellation.signal);
    throw error;
  }
}

function tell(run: Run, state: AgentState, report: NonNullable<ModelView["compacted"]>): void {
  for (const { modelId, usage } of report.usage ?? []) run.ledger.add(modelId, usage);
  run.stepNotes = { compaction: { report, note: run.compaction?.note } as unknown as JsonValue };
  run.emit?.({ type: "compaction-end", runId: run.runId, agent: run.config.name, step: state.stepCount + 1, report });
}

function sectionsOf(run: Run, { summary, buffer, messages, executionBuffer }: ModelView): readonly Messages[] {
  return [run.instructions, summary, buffer, messages, executionBuffer];
}

/** At the end of a run: feeds the memory, and keeps how the conversation was shown. */
export async function closeShown(run: Run, answer: readonly Message[]): Promise<void> {
  const { compaction, feed } = run;
  if (compaction === undefined) return;
  const { note } = compaction;
  const sessionId = sessionIdOf(run);
  if (run.hasOwnState) run.state = run.state.withMetadata(metadataKey, (note ?? null) as unknown as JsonValue);
  else if (sessionId !== undefined)
    run.config.shownNotes.keep(sessionId, { note, tail: tailOf(run.state, note?.conversation.lastSaid) });
  try {
    // A memory that does not listen is not waited for.
    if (feed !== undefined) await run.cancellation.race(feed.add(answer));
  } catch (error) {
    if (run.cancellation.isAborted && error === run.cancellation.reason) return;
    run.emit?.({ type: "error", runId: run.runId, agent: run.config.name, error, source: "memory" });
  }
}

function tailOf(state: AgentState, lastSaid: string | undefined): number {
  const place = lastSaid === undefined ? -1 : placeOf(state, lastSaid);
  return place === -1 ? state.messages.length : state.messages.length - place;
}

function placeOf({ messages }: AgentState, id: string): number {
  for (let i = messages.length - 1; i >= 0; i--) if (messages.at(i)?.metadata?.id === id) return i;
  return -1;
}

/** What the journal keeps of it with the run. */
export function shownNote(run: Run): JsonObject | undefined {
  const note = run.compaction?.note;
  return note === undefined ? undefined : { compaction: note as unknown as JsonValue };
}
