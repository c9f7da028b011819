// Subagents: finds the place of a subagent's run inside the turn of its parent.
import type { Message } from "../messages/message.ts";
import { OpenCalls, type OpenSubagent } from "./open-turn.ts";
import { linkOf, metadataOf } from "./readers.ts";
import type { RunSummary } from "./run-summary.ts";
import type { TurnItem } from "./turn.ts";

/** A run by the metadata of its messages. */
export interface SubagentMark {
  readonly runId: string;
  readonly parentRunId: string;
  readonly agent: string | undefined;
}

/** A subagent and the turn it is in. */
export interface PlacedSubagent<T> {
  readonly subagent: OpenSubagent;
  readonly turn: T;
}

interface Place<T> extends PlacedSubagent<T> {
  /** The turn or the subagent that called it. */
  readonly caller: Host;
  readonly depth: number;
}

interface Host {
  readonly items: TurnItem[];
}

// Rendering is recursive, so the depth is limited. Deeper runs are placed beside the run that called them.
const maxDepth = 50;

/** The subagents of a list, each in the item of the call that started it. */
export class Subagents<T extends Host> {
  readonly #list: readonly Message[];
  readonly #runs: ReadonlyMap<string, RunSummary>;
  readonly #places: Map<string, Place<T>> = new Map();
  readonly #calls: Map<Host, OpenCalls> = new Map();
  #callIds: ReadonlyMap<string, string> | undefined;

  constructor(list: readonly Message[], runs: ReadonlyMap<string, RunSummary>) {
    this.#list = list;
    this.#runs = runs;
  }

  all(): OpenSubagent[] {
    return Array.from(this.#places.values(), ({ subagent }) => subagent);
  }

  /** The place of a run: known, in that of its parent, or in the turn that called it. Undefined if the parent is not in the list. */
  place(mark: SubagentMark, turn: T | undefined): PlacedSubagent<T> | undefined {
    const known = this.#places.get(mark.runId);
    if (known !== undefined) return known;
    const parent = this.#places.get(mark.parentRunId);
    if (parent === undefined) return turn && this.#add(mark, { turn, caller: turn, depth: 1 });
    const isTooDeep = parent.depth >= maxDepth;
    return this.#add(mark, {
      turn: parent.turn,
      caller: isTooDeep ? parent.caller : parent.subagent,
      depth: isTooDeep ? maxDepth : parent.depth + 1,
    });
  }

  #add({ runId, agent }: SubagentMark, at: Omit<Place<T>, "subagent">): Place<T> {
    const subagent: OpenSubagent = { runId, agent, status: "open", reason: undefined, error: undefined, items: [] };
    const call = this.#callsOf(at.caller).find(this.#callIdOf(runId));
    if (call === undefined) at.caller.items.push({ type: "subagent", subagent });
    else if (call.subagents === undefined) call.subagents = [subagent];
    else call.subagents.push(subagent);
    const place = { subagent, ...at };
    this.#places.set(runId, place);
    return place;
  }

  #callsOf(host: Host): OpenCalls {
    const known = this.#calls.get(host);
    if (known !== undefined) return known;
    const calls = new OpenCalls(host.items);
    this.#calls.set(host, calls);
    return calls;
  }

  #callIdOf(runId: string): string | undefined {
    this.#callIds ??= callIdsOf(this.#list);
    return this.#callIds.get(runId) ?? this.#runs.get(runId)?.parentToolCallId;
  }
}

// The ids of calls by the runs of the subagents that answered them.
function callIdsOf(list: readonly Message[]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const message of list) {
    const { childRunId } = metadataOf(message);
    if (typeof childRunId === "string") ids.set(childRunId, linkOf(message as { tool_call_id?: unknown }));
  }
  return ids;
}
