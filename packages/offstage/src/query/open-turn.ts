// Open turns: turns and the runs of subagents within them while messages are added one by one. timeline.ts decides what is added where.
import { isObject } from "../base/json.ts";
import { printsAs } from "../base/prints-as.ts";
import type { Usage } from "../tokens/usage.ts";
import type { RunSummary } from "./run-summary.ts";
import type { ToolCallRecord } from "./tool-calls.ts";
import { renderTurn, type SubagentTurn, type Turn, type TurnItem, type TurnStatus } from "./turn.ts";

/** The item of a call, to which subagents are added as they appear. */
export interface OpenCall {
  readonly type: "tool";
  readonly call: ToolCallRecord;
  subagents?: OpenSubagent[];
}

/** The calls among the items of a turn or of a subagent, to find the one that started a run. */
export class OpenCalls {
  readonly #items: readonly TurnItem[];
  readonly #byId: Map<string, OpenCall> = new Map();
  #read = 0;
  #next = 0;

  constructor(items: readonly TurnItem[]) {
    this.#items = items;
  }

  /** The latest call with this id. Without an id: the first call that has neither a result nor a subagent. */
  find(id: string | undefined): OpenCall | undefined {
    if (id === undefined) return this.#firstOpen();
    for (; this.#read < this.#items.length; this.#read++) {
      const item = this.#items[this.#read] as TurnItem;
      if (item.type === "tool") this.#byId.set(item.call.toolCallId, item as OpenCall);
    }
    return this.#byId.get(id);
  }

  #firstOpen(): OpenCall | undefined {
    for (; this.#next < this.#items.length; this.#next++) {
      const item = this.#items[this.#next] as TurnItem;
      if (item.type !== "tool" || item.subagents !== undefined) continue;
      if (item.call.resultText === undefined) return item as OpenCall;
    }
    return undefined;
  }
}

/** A turn under construction. */
export class OpenTurn implements Turn {
  readonly index: number;
  readonly start: number;
  end: number;
  systemContent: string | undefined = undefined;
  userContent: string | undefined = undefined;
  assistantContent: string | undefined = undefined;
  readonly toolInteractions: ToolCallRecord[] = [];
  otherContent: string | undefined = undefined;
  readonly items: TurnItem[] = [];
  status: TurnStatus = "open";
  reason: string | undefined = undefined;
  error: Turn["error"] = undefined;
  runId: string | undefined = undefined;
  durationMs: number | undefined = undefined;
  usage: Usage | undefined = undefined;

  constructor(index: number, start: number) {
    this.index = index;
    this.start = start;
    this.end = start;
  }

  toString(): string {
    return renderTurn(this);
  }
}

printsAs(OpenTurn, (turn) => ({ ...turn }));

/** The run of a subagent under construction. */
export interface OpenSubagent extends SubagentTurn {
  readonly items: TurnItem[];
  status: TurnStatus;
  reason: string | undefined;
  error: Turn["error"];
}

const statuses: ReadonlySet<string> = new Set<TurnStatus>(["completed", "interrupted", "stopped", "failed", "waiting"]);

/** Adds how the run ended. An answer that was given stays an answer, unless the run failed. */
export function addRun(to: OpenTurn | OpenSubagent, run: RunSummary | undefined): void {
  if (run === undefined) return;
  const isNews = to.status === "open" || run.status === "failed";
  if (isNews && statuses.has(run.status)) to.status = run.status as TurnStatus;
  if (to.status !== "completed" && typeof run.reason === "string") to.reason = run.reason;
  if (isObject(run.error) && typeof run.error.message === "string") to.error = run.error;
}
