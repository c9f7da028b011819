// Step groups: a message with everything that belongs below it in a report: the results of its calls, and the runs of subagents.
import type { ToolCall, ToolMessage } from "../../messages/message.ts";
import { callsOf, linkOf, roleOf } from "../readers.ts";
import type { ExportView } from "./export-view.ts";

/** Indexes of messages, in order. */
export interface Indexes {
  readonly length: number;
  at(place: number): number | undefined;
}

export interface StepGroup {
  /** The index of the first message. */
  readonly head: number;
  readonly calls: readonly GroupedCall[];
  /** Results that answer none of the calls. */
  readonly orphans: readonly number[];
  /** Subagents that answer none of the calls. */
  readonly subagents: readonly GroupedRun[];
}

export interface GroupedCall {
  readonly call: ToolCall;
  /** The index of its result. */
  readonly result: number | undefined;
  readonly subagents: readonly GroupedRun[];
}

/** The run of a subagent, with the indexes of its messages and of those of its own subagents. */
export interface GroupedRun {
  readonly runId: string;
  readonly indexes: readonly number[];
}

/** Cuts messages into groups. If `nests` is false, messages of subagents are groups like all others. */
export function* stepGroups(view: ExportView, indexes: Indexes, nests: boolean): Iterable<StepGroup> {
  for (let place = 0; place < indexes.length; ) {
    const head = indexes.at(place++) as number;
    const below = new Below(view, head, nests);
    while (place < indexes.length && below.add(indexes.at(place) as number)) place++;
    yield below.group();
  }
}

class Below {
  readonly #view: ExportView;
  readonly #head: number;
  readonly #nests: boolean;
  readonly #calls: readonly ToolCall[];
  readonly #results: number[] = [];
  // The run that was called directly, for each run below the head.
  readonly #roots: Map<string, string> = new Map();
  readonly #runs: Map<string, number[]> = new Map();

  constructor(view: ExportView, head: number, nests: boolean) {
    this.#view = view;
    this.#head = head;
    this.#nests = nests;
    this.#calls = callsOf(view.message(head));
  }

  /** Adds the next message, if it belongs below the head. */
  add(index: number): boolean {
    const run = this.#nests ? this.#calledRun(index) : undefined;
    if (run !== undefined) run.push(index);
    else if (this.#calls.length > 0 && roleOf(this.#view.message(index)) === "tool") this.#results.push(index);
    else return false;
    return true;
  }

  #calledRun(index: number): number[] | undefined {
    const { runId, parentRunId } = this.#view.runPlace(index);
    const caller = this.#view.runPlace(this.#head).runId;
    if (runId === undefined || parentRunId === undefined || runId === caller) return undefined;
    const root = parentRunId === caller ? runId : this.#roots.get(parentRunId);
    if (root === undefined) return undefined;
    this.#roots.set(runId, root);
    const known = this.#runs.get(root);
    if (known !== undefined) return known;
    const indexes: number[] = [];
    this.#runs.set(root, indexes);
    return indexes;
  }

  group(): StepGroup {
    // Last first, so that pop() takes the first.
    const results = Map.groupBy(this.#results.toReversed(), (index) =>
      linkOf(this.#view.message(index) as ToolMessage),
    );
    const answered = this.#calls.map((call) => ({ call, result: results.get(linkOf(call))?.pop() }));
    const { byCall, others } = this.#subagents(answered);
    return {
      head: this.#head,
      calls: answered.map((each, place) => ({ ...each, subagents: byCall.get(place) ?? [] })),
      orphans: [...results.values()].flat().sort((a, b) => a - b),
      subagents: others,
    };
  }

  // A result names the run that gave it. Otherwise the summary of the run names the call; otherwise it is the first call without a result.
  #subagents(answered: readonly { readonly call: ToolCall; readonly result: number | undefined }[]) {
    const byCall = new Map<number, GroupedRun[]>();
    const others: GroupedRun[] = [];
    if (this.#runs.size === 0) return { byCall, others };
    const placeOfRun = new Map<unknown, number>();
    const placeOfId = new Map<unknown, number>();
    for (const [place, { call, result }] of answered.entries()) {
      if (result !== undefined) placeOfRun.set(this.#view.runPlace(result).childRunId, place);
      placeOfId.set(linkOf(call), place);
    }
    const open = answered.flatMap(({ result }, place) => (result === undefined ? [place] : [])).values();
    for (const [runId, indexes] of this.#runs) {
      const callId = this.#view.runs.get(runId)?.parentToolCallId;
      const named = placeOfRun.get(runId) ?? (callId === undefined ? undefined : placeOfId.get(callId));
      const place = named ?? open.next().value;
      const called = place === undefined ? others : (byCall.get(place) ?? []);
      called.push({ runId, indexes });
      if (place !== undefined) byCall.set(place, called);
    }
    return { byCall, others };
  }
}
