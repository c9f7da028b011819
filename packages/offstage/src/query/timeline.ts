// Timeline: a list cut into turns. Every message is in exactly one turn, and turns are in the order of the list.
import type { Message } from "../messages/message.ts";
import type { Usage } from "../tokens/usage.ts";
import { callsOf, contentOf, metadataOf, roleOf } from "./readers.ts";
import { printing } from "./self-printing.ts";
import { sumOf } from "./stats.ts";
import { recordOfOrphan, recordOfPair, type ToolCallRecord } from "./tool-calls.ts";
import { type ToolPair, toolPairs } from "./tool-pairs.ts";
import { renderTimeline, renderTurn, type Timeline, type Turn } from "./turn.ts";

/** The turns of a list, in order. */
export function timeline(list: readonly Message[]): Timeline {
  const builder = new TimelineBuilder(list);
  for (let i = 0; i < list.length; i++) builder.add(list[i] as Message, i);
  const turns = builder.finish();
  return printing(turns, () => renderTimeline(turns));
}

// One shape for every turn, filled while its messages pass.
class OpenTurn implements Turn {
  readonly index: number;
  readonly start: number;
  end: number;
  systemContent: string | undefined = undefined;
  userContent: string | undefined = undefined;
  assistantContent: string | undefined = undefined;
  readonly toolInteractions: ToolCallRecord[] = [];
  otherContent: string | undefined = undefined;
  status: Turn["status"] = "open";
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

class TimelineBuilder {
  readonly #list: readonly Message[];
  readonly #pairs: readonly ToolPair[];
  readonly #orphans: readonly number[];
  readonly #turns: OpenTurn[] = [];
  #turn: OpenTurn | undefined;
  // Calls and orphans come in the order of the list, so each is met by counting up.
  #nextPair = 0;
  #nextOrphan = 0;
  #isInToolLoop = false;
  #hasSpoken = false;
  // System messages that wait for the turn they belong to.
  #systemStart = -1;
  #systemContent: string | undefined;
  #firstTime: string | undefined;
  #lastTime: string | undefined;

  constructor(list: readonly Message[]) {
    this.#list = list;
    const { pairs, orphans } = toolPairs(list);
    this.#pairs = pairs;
    this.#orphans = orphans;
  }

  add(message: Message, place: number): void {
    const role = roleOf(message);
    if (role === "user") this.#addUser(message, place);
    else if (role === "assistant") this.#addAssistant(message, place);
    else if (role === "tool") this.#addTool(message, place);
    else if (role === "system" || role === "developer") this.#addSystem(message, place);
    else this.#addOther(message, place);
  }

  finish(): Turn[] {
    if (this.#systemStart >= 0) this.#begin(this.#systemStart);
    this.#close(this.#list.length);
    return this.#turns;
  }

  #addSystem(message: Message, place: number): void {
    if (this.#systemStart < 0) this.#systemStart = place;
    this.#systemContent = joined(this.#systemContent, contentOf(message));
  }

  #addUser(message: Message, place: number): void {
    const turn = this.#begin(place);
    turn.userContent = contentOf(message) ?? "";
    this.#note(turn, message);
  }

  #addAssistant(message: Message, place: number): void {
    const continues = !this.#hasSpoken || this.#isInToolLoop;
    const turn = continues ? this.#current(place) : this.#begin(place);
    const calls = callsOf(message).length;
    turn.assistantContent = joined(turn.assistantContent, contentOf(message));
    for (let i = 0; i < calls; i++) {
      const pair = this.#pairs[this.#nextPair++] as ToolPair;
      turn.toolInteractions.push(recordOfPair(this.#list, pair));
    }
    this.#isInToolLoop = calls > 0;
    this.#hasSpoken = true;
    turn.status = calls > 0 ? "open" : metadataOf(message).interrupted === true ? "interrupted" : "completed";
    this.#note(turn, message);
  }

  #addTool(message: Message, place: number): void {
    const turn = this.#current(place);
    if (this.#orphans[this.#nextOrphan] === place) {
      this.#nextOrphan++;
      turn.toolInteractions.push(recordOfOrphan(message));
    }
    this.#isInToolLoop = true;
    this.#note(turn, message);
  }

  #addOther(message: Message, place: number): void {
    const turn = this.#current(place);
    turn.otherContent = joined(turn.otherContent, contentOf(message));
    this.#note(turn, message);
  }

  #current(place: number): OpenTurn {
    if (this.#turn === undefined) return this.#begin(place);
    if (this.#systemStart >= 0) this.#takeSystem(this.#turn);
    return this.#turn;
  }

  #begin(place: number): OpenTurn {
    const start = this.#systemStart >= 0 ? this.#systemStart : place;
    this.#close(start);
    const turn = new OpenTurn(this.#turns.length, start);
    this.#turns.push(turn);
    this.#turn = turn;
    if (this.#systemStart >= 0) this.#takeSystem(turn);
    this.#isInToolLoop = false;
    this.#hasSpoken = false;
    return turn;
  }

  #takeSystem(turn: OpenTurn): void {
    turn.systemContent = joined(turn.systemContent, this.#systemContent);
    this.#systemContent = undefined;
    this.#systemStart = -1;
  }

  #close(end: number): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.end = end;
    if (this.#firstTime !== undefined) turn.durationMs = durationOf(this.#firstTime, this.#lastTime);
    this.#firstTime = undefined;
  }

  #note(turn: OpenTurn, message: Message): void {
    const { runId, usage, createdAt } = metadataOf(message);
    if (typeof runId === "string") turn.runId ??= runId;
    if (usage !== undefined) turn.usage = sumOf(turn.usage, usage);
    if (typeof createdAt !== "string") return;
    this.#firstTime ??= createdAt;
    this.#lastTime = createdAt;
  }
}

function joined(before: string | undefined, text: string | undefined): string | undefined {
  if (text === undefined || before === undefined || before === "") return text ?? before;
  return text === "" ? before : `${before}\n${text}`;
}

function durationOf(first: string | undefined, last: string | undefined): number | undefined {
  const duration = Date.parse(last ?? "") - Date.parse(first ?? "");
  return Number.isNaN(duration) ? undefined : Math.max(0, duration);
}
