// Timeline: a list cut into turns. Every message is in exactly one turn, and turns are in the order in which they begin. The messages of
// a subagent are in the turn of the run that called it.
import type { Message } from "../messages/message.ts";
import { addRun, type OpenSubagent, OpenTurn } from "./open-turn.ts";
import { callsOf, contentOf, metadataOf, roleOf } from "./readers.ts";
import type { RunSummary } from "./run-summary.ts";
import { printing } from "./self-printing.ts";
import { sumOf } from "./stats.ts";
import { type PlacedSubagent, Subagents } from "./subagents.ts";
import { recordOfOrphan, recordOfPair, type ToolCallRecord, type ToolPair, toolPairs } from "./tool-calls.ts";
import { renderTimeline, type Timeline, type Turn, type TurnItem } from "./turn.ts";

/** The turns of a list, in order. Runs that are known tell how a turn without an answer ended. */
export function timeline(list: readonly Message[], runs: readonly RunSummary[] = []): Timeline {
  const builder = new TimelineBuilder(list, runs);
  for (let i = 0; i < list.length; i++) builder.add(list[i] as Message, i);
  const turns = builder.finish();
  return printing(turns, () => renderTimeline(turns));
}

/** A turn that was still open when the next one began: later messages of its run may complete it. */
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
  // Calls and orphans are in the order of the list, so counting up finds each of them.
  #nextPair = 0;
  #nextOrphan = 0;
  #isInToolLoop = false;
  /** The last user message had waited for its run, or joined it. */
  #isJoined = false;
  #hasSpoken = false;
  // The system messages that belong to the next turn.
  #systemStart = -1;
  #systemEnd = -1;
  #systemContent: string | undefined;
  #firstTime: string | undefined;
  #lastTime: string | undefined;
  // By run id.
  readonly #left: Map<string, LeftTurn> = new Map();
  readonly #runs: ReadonlyMap<string, RunSummary>;
  readonly #subagents: Subagents<OpenTurn>;

  constructor(list: readonly Message[], runs: readonly RunSummary[]) {
    this.#list = list;
    this.#runs = new Map(runs.map((run) => [run.runId, run]));
    this.#subagents = new Subagents(list, this.#runs);
    const { pairs, orphans } = toolPairs(list);
    this.#pairs = pairs;
    this.#orphans = orphans;
  }

  add(message: Message, index: number): void {
    const role = roleOf(message);
    const placed = this.#placeOf(message);
    if (placed !== undefined) this.#addToSubagent(placed, message, index);
    else if (role === "user") this.#addUser(message, index);
    else if (role === "system" || role === "developer") this.#addSystem(message, index);
    else this.#addReply(message, index, role);
  }

  #addReply(message: Message, index: number, role: string): void {
    const left = this.#leftTurnOf(message);
    if (left !== undefined) this.#addToLeft(left, message, index);
    else if (role === "assistant") this.#addAssistant(message, index);
    else this.#addOther(message, index, role);
  }

  // A result, or a message of an unknown role.
  #addOther(message: Message, index: number, role: string): void {
    const turn = this.#current(index);
    this.#take(turn, message, index);
    if (role === "tool") this.#isInToolLoop = true;
    this.#note(turn, message, index);
  }

  finish(): Turn[] {
    if (this.#systemStart >= 0) this.#begin(this.#systemStart);
    this.#close();
    this.#addRuns();
    return this.#turns;
  }

  // A run may have several turns. It ended in the last of them.
  #addRuns(): void {
    if (this.#runs.size === 0) return;
    const lastTurns = new Map(this.#turns.map((turn) => [turn.runId ?? "", turn]));
    for (const [runId, turn] of lastTurns) addRun(turn, this.#runs.get(runId));
    for (const subagent of this.#subagents.all()) addRun(subagent, this.#runs.get(subagent.runId));
  }

  // Undefined unless the message is of a subagent whose parent has a turn.
  #placeOf(message: Message): PlacedSubagent<OpenTurn> | undefined {
    const { runId, parentRunId, agent } = metadataOf(message);
    if (typeof parentRunId !== "string" || typeof runId !== "string") return undefined;
    const caller = this.#turn?.runId === parentRunId ? this.#turn : this.#left.get(parentRunId)?.turn;
    return this.#subagents.place({ runId, parentRunId, agent: typeof agent === "string" ? agent : undefined }, caller);
  }

  #addToSubagent({ subagent, turn }: PlacedSubagent<OpenTurn>, message: Message, index: number): void {
    this.#take(subagent, message, index);
    turn.end = Math.max(turn.end, index + 1);
    const { usage, createdAt } = metadataOf(message);
    if (usage !== undefined) turn.usage = sumOf(turn.usage, usage);
    if (turn !== this.#turn || typeof createdAt !== "string") return;
    this.#firstTime ??= createdAt;
    this.#lastTime = createdAt;
  }

  #addSystem(message: Message, index: number): void {
    if (this.#systemStart < 0) this.#systemStart = index;
    this.#systemEnd = index + 1;
    this.#systemContent = joinTexts(this.#systemContent, contentOf(message));
  }

  #addUser(message: Message, index: number): void {
    const text = contentOf(message) ?? "";
    const turn = this.#turnToJoin(message) ?? this.#begin(index);
    turn.userContent = joinTexts(turn.userContent, text);
    say(turn, "user", text);
    this.#note(turn, message, index);
  }

  // A message that joined a run belongs to the turn of that run. So does the input behind messages that waited for the run.
  #turnToJoin(message: Message): OpenTurn | undefined {
    const { runId, isJoined } = metadataOf(message);
    const turn = this.#turn;
    const continues = turn?.runId !== undefined && turn.runId === runId && (isJoined === true || this.#isJoined);
    this.#isJoined = isJoined === true;
    // The reply to it continues the turn.
    if (continues && this.#hasSpoken) this.#isInToolLoop = true;
    return continues ? turn : undefined;
  }

  #addAssistant(message: Message, index: number): void {
    const continues = !this.#hasSpoken || this.#isInToolLoop;
    const turn = continues ? this.#current(index) : this.#begin(index);
    this.#isInToolLoop = this.#takeReply(turn, message) > 0;
    this.#hasSpoken = true;
    this.#note(turn, message, index);
  }

  #take(turn: OpenTurn | OpenSubagent, message: Message, index: number): void {
    const role = roleOf(message);
    if (role === "assistant") this.#takeReply(turn, message);
    else if (role === "tool") this.#takeResult(turn, index);
    else {
      const text = contentOf(message);
      if (turn instanceof OpenTurn) turn.otherContent = joinTexts(turn.otherContent, text);
      say(turn, itemTypes.get(role) ?? "other", text);
    }
  }

  #takeReply(turn: OpenTurn | OpenSubagent, message: Message): number {
    const calls = callsOf(message).length;
    const text = contentOf(message);
    if (turn instanceof OpenTurn) turn.assistantContent = joinTexts(turn.assistantContent, text);
    // An empty text beside calls is left out. An empty answer is kept.
    if (text !== "" || calls === 0) say(turn, "text", text);
    for (let i = 0; i < calls; i++) {
      const pair = this.#pairs[this.#nextPair++] as ToolPair;
      addCall(turn, recordOfPair(this.#list, pair));
    }
    turn.status = calls > 0 ? "open" : metadataOf(message).interrupted === true ? "interrupted" : "completed";
    return calls;
  }

  // A result that answers a call is part of the record of that call.
  #takeResult(turn: OpenTurn | OpenSubagent, index: number): void {
    if (this.#orphans[this.#nextOrphan] !== index) return;
    this.#nextOrphan++;
    addCall(turn, recordOfOrphan(this.#list[index] as Message));
  }

  #leftTurnOf(message: Message): LeftTurn | undefined {
    const { runId } = metadataOf(message);
    return typeof runId !== "string" || runId === this.#turn?.runId ? undefined : this.#left.get(runId);
  }

  #addToLeft(left: LeftTurn, message: Message, index: number): void {
    const { turn } = left;
    this.#take(turn, message, index);
    turn.end = index + 1;
    const time = noteOn(turn, message);
    left.firstTime ??= time;
    if (time !== undefined) turn.durationMs = durationOf(left.firstTime, time);
    if (turn.status !== "open") this.#left.delete(turn.runId as string);
  }

  #current(index: number): OpenTurn {
    if (this.#turn === undefined) return this.#begin(index);
    if (this.#systemStart >= 0) this.#takeSystem(this.#turn);
    return this.#turn;
  }

  #begin(index: number): OpenTurn {
    const start = this.#systemStart >= 0 ? this.#systemStart : index;
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
    turn.systemContent = joinTexts(turn.systemContent, this.#systemContent);
    say(turn, "system", this.#systemContent);
    turn.end = Math.max(turn.end, this.#systemEnd);
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
    if (turn.status === "open") this.#left.set(runId, { turn, firstTime: this.#firstTime });
    else this.#left.delete(runId);
  }

  #note(turn: OpenTurn, message: Message, index: number): void {
    turn.end = index + 1;
    const time = noteOn(turn, message);
    if (time === undefined) return;
    this.#firstTime ??= time;
    this.#lastTime = time;
  }
}

const itemTypes = new Map<string, "user" | "system">([
  ["user", "user"],
  ["system", "system"],
  ["developer", "system"],
]);

function addCall(turn: OpenTurn | OpenSubagent, call: ToolCallRecord): void {
  turn.items.push({ type: "tool", call });
  if (turn instanceof OpenTurn) turn.toolInteractions.push(call);
}

function say(to: { readonly items: TurnItem[] }, type: "system" | "user" | "text" | "other", text?: string): void {
  if (text !== undefined) to.items.push({ type, text });
}

// Adds the run id and usage of a message to the turn, and returns the time at which the message was made.
function noteOn(turn: OpenTurn, message: Message): string | undefined {
  const { runId, usage, createdAt } = metadataOf(message);
  if (typeof runId === "string") turn.runId ??= runId;
  if (usage !== undefined) turn.usage = sumOf(turn.usage, usage);
  return typeof createdAt === "string" ? createdAt : undefined;
}

function joinTexts(before: string | undefined, text: string | undefined): string | undefined {
  if (text === undefined || before === undefined || before === "") return text ?? before;
  return text === "" ? before : `${before}\n${text}`;
}

function durationOf(first: string | undefined, last: string | undefined): number | undefined {
  const duration = Date.parse(last ?? "") - Date.parse(first ?? "");
  return Number.isNaN(duration) ? undefined : Math.max(0, duration);
}
