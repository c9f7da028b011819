// Tool calls: which result answers which call, and both as one record. Reads only; making a list valid is the work of messages/repair.ts.
import { isObject, parseJson } from "../base/json.ts";
import { type Message, resultContentOf, type ToolCall, type ToolMessage } from "../messages/message.ts";
import { callsOf, contentOf, jsonText, linkOf, metadataOf, nameOfCall, nameOfResult, timeOf } from "./readers.ts";

/** One call with its result, or a result that answers no call. */
export interface ToolCallRecord {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The parsed input; the text itself if it is not JSON; undefined for a result without a call. */
  readonly input: unknown;
  /** The input as the model wrote it. */
  readonly inputText: string | undefined;
  /** The value that the tool returned, if its message is marked `isJson`; otherwise the text. Undefined if the call was not answered. */
  readonly result: unknown;
  /** The result as the model read it; undefined if the call was not answered. */
  readonly resultText: string | undefined;
  readonly isError: boolean;
  /** The time the tool took, if its messages say so. */
  readonly durationMs: number | undefined;
  readonly runId: string | undefined;
  readonly agent: string | undefined;
}

/** The record of a call and its result. */
export function recordOfPair(list: readonly Message[], pair: ToolPair): ToolCallRecord {
  const { call, id, toolName, callIndex, resultIndex } = pair;
  const asked = list[callIndex] as Message;
  const inputText = writtenText(asked, id) ?? storedText(call.function);
  const answer = resultIndex < 0 ? undefined : (list[resultIndex] as Message);
  const { runId, agent } = metadataOf(asked);
  const resultText = answer === undefined ? undefined : (contentOf(answer) ?? "");
  return {
    toolCallId: id,
    toolName,
    input: inputOf(inputText),
    inputText,
    result: answer === undefined ? undefined : resultOf(answer),
    resultText,
    isError: answer !== undefined && metadataOf(answer).isError === true,
    durationMs: answer === undefined ? undefined : durationOf(asked, answer),
    runId: textOrNothing(runId),
    agent: textOrNothing(agent),
  };
}

/** The record of a result that answers no call. */
export function recordOfOrphan(answer: Message): ToolCallRecord {
  const { isError, durationMs, runId, agent } = metadataOf(answer);
  const resultText = contentOf(answer) ?? "";
  return {
    toolCallId: linkOf(answer as ToolMessage),
    toolName: nameOfResult(answer) ?? "unknown",
    input: undefined,
    inputText: undefined,
    result: resultOf(answer),
    resultText,
    isError: isError === true,
    durationMs: typeof durationMs === "number" ? durationMs : undefined,
    runId: textOrNothing(runId),
    agent: textOrNothing(agent),
  };
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

// A result that was clipped for the model is no longer JSON, and stays text.
function resultOf(answer: Message): unknown {
  const content = metadataOf(answer).isEdited === true ? resultContentOf(answer as ToolMessage) : answer.content;
  const text = contentOf({ ...answer, content } as Message) ?? "";
  if (metadataOf(answer).isJson !== true) return text;
  const value = Array.isArray(content) ? content : parseJson(text);
  return value === undefined ? text : value;
}

// A message holds input that can be sent. If the model wrote something else, the metadata has it.
function writtenText(asked: Message, id: string): string | undefined {
  const { inputTexts } = metadataOf(asked);
  const written = isObject(inputTexts) && Object.hasOwn(inputTexts, id) ? inputTexts[id] : undefined;
  return typeof written === "string" ? written : undefined;
}

function storedText(called: unknown): string {
  const given = isObject(called) ? called.arguments : undefined;
  if (typeof given === "string") return given;
  return given === undefined || given === null ? "" : jsonText(given);
}

function inputOf(text: string): unknown {
  if (text === "" || text === "{}") return {};
  return parseJson(text) ?? text;
}

function durationOf(asked: Message, answer: Message): number | undefined {
  const { durationMs } = metadataOf(answer);
  if (typeof durationMs === "number") return durationMs;
  const from = timeOf(asked);
  const to = from === undefined ? undefined : timeOf(answer);
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}

/** One call, its index, and the index of its result (-1 if there is none). */
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
  /** The indexes of results that answer no call. */
  readonly orphans: readonly number[];
}

/** Larger blocks are searched by map, so that one message with many calls stays linear. */
const smallBlock = 16;

/**
 * Pairs all calls with their results. A result answers the nearest calls before it: those of the last assistant messages, the first
 * call first, then older ones. A result that comes before its call answers it too. The run of a subagent is paired on its own,
 * because its call ids may be those of its parent.
 */
export function toolPairs(list: readonly Message[]): ToolPairs {
  const pairs: ToolPair[] = [];
  const pairings = new Pairings(pairs);
  const early: number[] = [];
  for (let i = 0; i < list.length; i++) {
    const message = list[i] as Message;
    const role = (message as Message | null | undefined)?.role;
    const pairing = pairings.of(message);
    if (role === "tool") {
      if (!pairing.answer(linkOf(message as ToolMessage), i)) early.push(i);
    } else if (role === "assistant") pairing.open(callsOf(message), i);
    else pairing.seal();
  }
  const isOrphan = (i: number): boolean => {
    const message = list[i] as ToolMessage;
    return !pairings.of(message).answerLate(linkOf(message), i);
  };
  return { pairs, orphans: early.filter(isOrphan) };
}

class Pairings {
  readonly #pairs: ToolPair[];
  readonly #outer: Pairing;
  readonly #subagents: Map<unknown, Pairing> = new Map();

  constructor(pairs: ToolPair[]) {
    this.#pairs = pairs;
    this.#outer = new Pairing(pairs);
  }

  of(message: Message): Pairing {
    const { parentRunId, runId } = metadataOf(message);
    if (typeof parentRunId !== "string") return this.#outer;
    const known = this.#subagents.get(runId);
    if (known !== undefined) return known;
    const pairing = new Pairing(this.#pairs);
    this.#subagents.set(runId, pairing);
    return pairing;
  }
}

class Pairing {
  readonly pairs: ToolPair[];
  // The open calls of the last assistant messages. Older open calls wait by id, the newest group last.
  #block: ToolPair[] = [];
  #isSealed = false;
  readonly #waiting = new Map<string, ToolPair[][]>();

  constructor(pairs: ToolPair[]) {
    this.pairs = pairs;
  }

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

  // Groups are reversed, so that pop() takes the first of equal ids.
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
