// The events of one run in this process, for several readers, each at its own pace. Neighbouring deltas are joined, and old steps are
// dropped when there is too much: the record has them.
import type { JsonValue } from "../../base/json.ts";
import type { ServedEvent } from "../telling/served-event.ts";

/** Deltas are joined up to this length. */
const joinUpTo = 1024;

/** A log keeps about this many characters. */
const maxKept = 1_000_000;

/** Reads the events of a run. */
export interface EventReader {
  /** The events since the last call: waits for at least one. Undefined after the last event. */
  next(): Promise<readonly ServedEvent[] | undefined>;
  /** Stops waiting. Idempotent. */
  close(): void;
}

/** The first event of a reader. "resumed" leaves out the events before the run was resumed. */
export type ReadFrom = "start" | "resumed";

export class EventLog {
  readonly #readRecord: (throughStep: number) => Promise<readonly ServedEvent[]>;
  #entries: ServedEvent[] = [];
  /** How many entries were dropped from the front. */
  #dropped = 0;
  /** The last step that was dropped. */
  #droppedStep = 0;
  #kept = 0;
  #resumedAt = 0;
  #isEnded = false;
  #isSeen = false;
  #onSeen: (() => void) | undefined;
  readonly #waiting = new Set<() => void>();

  /** `readRecord` tells the steps that were dropped. */
  constructor(readRecord: (throughStep: number) => Promise<readonly ServedEvent[]>) {
    this.#readRecord = readRecord;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(event: ServedEvent): void {
    // Progress is worth nothing later, so it does not fill the log.
    if (event.type === "tool-progress" && this.#kept > maxKept) return;
    const last = this.#entries.at(-1);
    const joined = last === undefined || this.#end === this.#resumedAt ? undefined : join(last, event);
    if (joined === undefined) this.#entries.push(event);
    else this.#entries[this.#entries.length - 1] = joined;
    this.#kept += sizeOf(event);
    if (this.#kept > maxKept && event.type === "step-start" && event.subagent === undefined) this.#drop(event.step);
    this.#wake();
  }

  /** Marks that the run is resumed here: what follows is new to a client that has seen it wait. */
  markResumed(): void {
    this.#resumedAt = this.#end;
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Calls back when a reader has got the last event. */
  onSeen(callback: () => void): void {
    this.#onSeen = callback;
    if (this.#isSeen) callback();
  }

  read(from: ReadFrom): EventReader {
    let index = from === "resumed" ? this.#resumedAt : 0;
    let offset = 0;
    let wake: (() => void) | undefined;
    let isClosed = false;
    const take = (): ServedEvent[] => {
      const events: ServedEvent[] = [];
      for (; index < this.#end; index++) {
        const entry = this.#entries[index - this.#dropped] as ServedEvent;
        const isOpen = index === this.#end - 1 && "delta" in entry;
        const rest = offset > 0 && "delta" in entry ? { ...entry, delta: entry.delta.slice(offset) } : entry;
        if (!("delta" in rest) || rest.delta !== "") events.push(rest);
        // The last delta may still grow.
        offset = isOpen ? entry.delta.length : 0;
        if (isOpen) break;
      }
      return events;
    };
    const next = async (): Promise<readonly ServedEvent[] | undefined> => {
      while (!isClosed) {
        if (index === 0 && offset === 0 && this.#dropped > 0) {
          index = this.#dropped;
          return [...(await this.#readRecord(this.#droppedStep)), ...take()];
        }
        // Its client connects again, and gets these steps from the record.
        if (index < this.#dropped) throw new Error("The reader is too far behind its run.");
        const events = take();
        if (events.length > 0) return events;
        if (this.#isEnded) {
          this.#isSeen = true;
          this.#onSeen?.();
          return undefined;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
          this.#waiting.add(resolve);
        });
      }
      return undefined;
    };
    const close = (): void => {
      isClosed = true;
      if (wake !== undefined) this.#waiting.delete(wake);
      wake?.();
    };
    return { next, close };
  }

  get #end(): number {
    return this.#dropped + this.#entries.length;
  }

  #drop(currentStep: number): void {
    const count = this.#entries.length - 1;
    this.#entries = this.#entries.slice(count);
    this.#dropped += count;
    this.#droppedStep = currentStep - 1;
    this.#kept = this.#entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}

// Joins a delta with the one before it if both belong to the same text.
function join(last: ServedEvent, event: ServedEvent): ServedEvent | undefined {
  if (!("delta" in last) || !("delta" in event) || last.delta.length >= joinUpTo) return undefined;
  const isSame = last.type === event.type && last.step === event.step && last.subagent?.runId === event.subagent?.runId;
  return isSame ? { ...last, delta: last.delta + event.delta } : undefined;
}

function sizeOf(event: ServedEvent): number {
  if ("delta" in event) return event.delta.length;
  return 100 + (JSON.stringify(toldValue(event))?.length ?? 0);
}

function toldValue(event: ServedEvent): JsonValue | undefined {
  if (event.type === "tool-end") return event.output;
  if (event.type === "tool-progress") return event.value;
  return event.type === "tool-start" ? event.input : undefined;
}
