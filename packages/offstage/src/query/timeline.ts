// Timeline: a list cut into turns. Every message is in exactly one turn, and turns are in the order in which they begin.

import { printsAs } from "../base/prints-as.ts";
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

printsAs(OpenTurn, (turn) => ({ ...turn }));

/** A turn that another followed before it was answered: its run may still be under way. */
interface LeftTurn {
  readonly turn: OpenTurn;
  firstTime: string | undefined;
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
  #systemEnd = -1;
  #systemContent: string | undefined;
  #firstTime: string | undefined;
  #lastTime: string | undefined;
  // By run. Made when there is one: in most lists each turn is answered before the next.
  #left: Map<string, LeftTurn> | undefined;

  constructor(list: readonly Message[]) {
    this.#list = list;
    const { pairs, orphans } = toolPairs(list);
    this.#pairs = pairs;
    this.#orphans = orphans;
  }

  add(message: Message, place: number): void {
    const role = roleOf(message);
    if (role === "user") this.#addUser(message, place);
    else if (role === "system" || role === "developer") this.#addSystem(message, place);
    else this.#addReply(message, place, role);
  }

  #addReply(message: Message, place: number, role: string): void {
    const left = this.#left === undefined ? undefined : this.#leftTurnOf(message);
    if (left !== undefined) this.#addToLeft(left, message, place);
    else if (role === "assistant") this.#addAssistant(message, place);
    else if (role === "tool") this.#addTool(message, place);
    else this.#addOther(message, place);
  }

  finish(): Turn[] {
    if (this.#systemStart >= 0) this.#begin(this.#systemStart);
    this.#close();
    return this.#turns;
  }

  #addSystem(message: Message, place: number): void {
    if (this.#systemStart < 0) this.#systemStart = place;
    this.#systemEnd = place + 1;
    this.#systemContent = joined(this.#systemContent, contentOf(message));
  }

  #addUser(message: Message, place: number): void {
    const turn = this.#begin(place);
    turn.userContent = contentOf(message) ?? "";
    this.#note(turn, message, place);
  }

  #addAssistant(message: Message, place: number): void {
    const continues = !this.#hasSpoken || this.#isInToolLoop;
    const turn = continues ? this.#current(place) : this.#begin(place);
    this.#isInToolLoop = this.#takeReply(turn, message) > 0;
    this.#hasSpoken = true;
    this.#note(turn, message, place);
  }

  #takeReply(turn: OpenTurn, message: Message): number {
    const calls = callsOf(message).length;
    turn.assistantContent = joined(turn.assistantContent, contentOf(message));
    for (let i = 0; i < calls; i++) {
      const pair = this.#pairs[this.#nextPair++] as ToolPair;
      turn.toolInteractions.push(recordOfPair(this.#list, pair));
    }
    turn.status = calls > 0 ? "open" : metadataOf(message).interrupted === true ? "interrupted" : "completed";
    return calls;
  }

  #addTool(message: Message, place: number): void {
    const turn = this.#current(place);
    this.#takeResult(turn, message, place);
    this.#isInToolLoop = true;
    this.#note(turn, message, place);
  }

  // What answers a call is in the record of that call.
  #takeResult(turn: OpenTurn, message: Message, place: number): void {
    if (this.#orphans[this.#nextOrphan] !== place) return;
    this.#nextOrphan++;
    turn.toolInteractions.push(recordOfOrphan(message));
  }

  #addOther(message: Message, place: number): void {
    const turn = this.#current(place);
    turn.otherContent = joined(turn.otherContent, contentOf(message));
    this.#note(turn, message, place);
  }

  #leftTurnOf(message: Message): LeftTurn | undefined {
    const { runId } = metadataOf(message);
    return typeof runId !== "string" || runId === this.#turn?.runId ? undefined : this.#left?.get(runId);
  }

  #addToLeft(left: LeftTurn, message: Message, place: number): void {
    const { turn } = left;
    const role = roleOf(message);
    if (role === "assistant") this.#takeReply(turn, message);
    else if (role === "tool") this.#takeResult(turn, message, place);
    else turn.otherContent = joined(turn.otherContent, contentOf(message));
    turn.end = place + 1;
    const time = noteOn(turn, message);
    left.firstTime ??= time;
    if (time !== undefined) turn.durationMs = durationOf(left.firstTime, time);
    if (turn.status !== "open") this.#left?.delete(turn.runId as string);
  }

  #current(place: number): OpenTurn {
    if (this.#turn === undefined) return this.#begin(place);
    if (this.#systemStart >= 0) this.#takeSystem(this.#turn);
    return this.#turn;
  }

  #begin(place: number): OpenTurn {
    const start = this.#systemStart >= 0 ? this.#systemStart : place;
    this.#close();
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
    turn.end = this.#systemEnd;
    this.#systemContent = undefined;
    this.#systemStart = -1;
  }

  #close(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    if (this.#firstTime !== undefined) turn.durationMs = durationOf(this.#firstTime, this.#lastTime);
    if (turn.runId !== undefined) this.#leave(turn, turn.runId);
    this.#firstTime = undefined;
  }

  #leave(turn: OpenTurn, runId: string): void {
    if (turn.status !== "open") {
      this.#left?.delete(runId);
      return;
    }
    this.#left ??= new Map();
    this.#left.set(runId, { turn, firstTime: this.#firstTime });
  }

  #note(turn: OpenTurn, message: Message, place: number): void {
    turn.end = place + 1;
    const time = noteOn(turn, message);
    if (time === undefined) return;
    this.#firstTime ??= time;
    this.#lastTime = time;
  }
}

// Takes in what a message says of its run, and gives when it was made.
function noteOn(turn: OpenTurn, message: Message): string | undefined {
  const { runId, usage, createdAt } = metadataOf(message);
  if (typeof runId === "string") turn.runId ??= runId;
  if (usage !== undefined) turn.usage = sumOf(turn.usage, usage);
  return typeof createdAt === "string" ? createdAt : undefined;
}

function joined(before: string | undefined, text: string | undefined): string | undefined {
  if (text === undefined || before === undefined || before === "") return text ?? before;
  return text === "" ? before : `${before}\n${text}`;
}

function durationOf(first: string | undefined, last: string | undefined): number | undefined {
  const duration = Date.parse(last ?? "") - Date.parse(first ?? "");
  return Number.isNaN(duration) ? undefined : Math.max(0, duration);
}
