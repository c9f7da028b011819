// Tool pairs: which result answers which call. Reads only; making a list valid is the work of messages/repair.ts.
import type { Message, ToolCall, ToolMessage } from "../messages/message.ts";
import { callsOf, linkOf, nameOfCall } from "./readers.ts";

/** One call, where it stands, and where its result stands (-1 where there is none). */
export interface ToolPair {
  readonly call: ToolCall;
  readonly id: string;
  readonly toolName: string;
  readonly callIndex: number;
  resultIndex: number;
}

export interface ToolPairs {
  /** Every call, in order. */
  readonly pairs: readonly ToolPair[];
  /** The places of results that answer no call. */
  readonly orphans: readonly number[];
}

/** A block larger than this is searched by map, so that one message with many calls stays linear. */
const smallBlock = 16;

/**
 * All calls with their results. A result answers the nearest calls before it: those of the last assistant messages,
 * first come first served, then older ones; a result that stands before its call answers it too.
 */
export function toolPairs(list: readonly Message[]): ToolPairs {
  const pairing = new Pairing();
  const early: number[] = [];
  for (let i = 0; i < list.length; i++) {
    const message = list[i] as Message;
    const role = (message as Message | null | undefined)?.role;
    if (role === "tool") {
      if (!pairing.answer(linkOf(message as ToolMessage), i)) early.push(i);
    } else if (role === "assistant") pairing.open(callsOf(message), i);
    else pairing.seal();
  }
  return { pairs: pairing.pairs, orphans: early.filter((i) => !pairing.answerLate(linkOf(list[i] as ToolMessage), i)) };
}

class Pairing {
  readonly pairs: ToolPair[] = [];
  // The block: calls of the last assistant messages. Older open calls wait by id, the newest group last.
  #block: ToolPair[] = [];
  #isSealed = false;
  readonly #waiting = new Map<string, ToolPair[][]>();

  open(calls: readonly ToolCall[], callIndex: number): void {
    if (calls.length === 0) this.seal();
    else if (this.#isSealed) this.#retire();
    for (const call of calls) {
      const pair = { call, id: linkOf(call), toolName: nameOfCall(call), callIndex, resultIndex: -1 };
      this.pairs.push(pair);
      this.#block.push(pair);
    }
  }

  seal(): void {
    this.#isSealed = true;
  }

  answer(id: string, resultIndex: number): boolean {
    this.#isSealed = true;
    if (this.#block.length > smallBlock) this.#retire();
    const pair = this.#takeFromBlock(id) ?? this.#takeWaiting(id);
    if (pair === undefined) return false;
    pair.resultIndex = resultIndex;
    return true;
  }

  answerLate(id: string, resultIndex: number): boolean {
    this.#retire();
    return this.answer(id, resultIndex);
  }

  #takeFromBlock(id: string): ToolPair | undefined {
    const block = this.#block;
    for (let i = 0; i < block.length; i++) {
      const pair = block[i] as ToolPair;
      if (pair.id !== id) continue;
      if (block.length === 1) block.length = 0;
      else block.splice(i, 1);
      return pair;
    }
    return undefined;
  }

  #takeWaiting(id: string): ToolPair | undefined {
    const groups = this.#waiting.get(id);
    const pair = groups?.at(-1)?.pop();
    if (groups?.at(-1)?.length === 0) groups.pop();
    return pair;
  }

  // Groups are reversed, so that taking the first of equals is a pop.
  #retire(): void {
    this.#isSealed = false;
    if (this.#block.length === 0) return;
    const groups = new Map<string, ToolPair[]>();
    for (const pair of this.#block.reverse()) {
      const group = groups.get(pair.id);
      if (group === undefined) groups.set(pair.id, [pair]);
      else group.push(pair);
    }
    for (const [id, group] of groups) {
      const older = this.#waiting.get(id);
      if (older === undefined) this.#waiting.set(id, [group]);
      else older.push(group);
    }
    this.#block = [];
  }
}
