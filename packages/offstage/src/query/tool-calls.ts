// Tool calls: which result answers which call, and both as one record. Reads only; making a list valid is the work of messages/repair.ts.
import { isObject, parseJson } from "../base/json.ts";
import {
  type Message,
  type ResultStatus,
  resultContentOf,
  type ToolCall,
  type ToolMessage,
} from "../messages/message.ts";
import {
  callsOf,
  contentOf,
  isErrorOf,
  jsonText,
  linkOf,
  metadataOf,
  nameOfCall,
  nameOfResult,
  roleOf,
  statusOf,
  textIn,
  timeOf,
} from "./readers.ts";

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
  /** True if its result is marked `isError`, as those of rejected and interrupted calls are too. */
  readonly isError: boolean;
  /** How it ended; undefined if the call was not answered. */
  readonly status: ResultStatus | undefined;
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
    isError: answer !== undefined && isErrorOf(answer),
    status: answer === undefined ? undefined : statusOf(answer),
    durationMs: answer === undefined ? undefined : durationOf(asked, answer),
    runId: textIn(runId),
    agent: textIn(agent),
  };
}

/** The record of a result that answers no call. */
export function recordOfOrphan(answer: Message): ToolCallRecord {
  const { durationMs, runId, agent } = metadataOf(answer);
  const resultText = contentOf(answer) ?? "";
  return {
    toolCallId: linkOf(answer as ToolMessage),
    toolName: nameOfResult(answer) ?? "unknown",
    input: undefined,
    inputText: undefined,
    result: resultOf(answer),
    resultText,
    isError: isErrorOf(answer),
    status: statusOf(answer),
    durationMs: typeof durationMs === "number" ? durationMs : undefined,
    runId: textIn(runId),
    agent: textIn(agent),
  };
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
  if (text === "") return {};
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

/**
 * Pairs all calls with their results. A result answers the nearest calls before it: those of the last assistant messages, the first
 * call first, then older ones. A result that comes before its call answers it too. The run of a subagent is paired on its own,
 * because its call ids may be those of its parent.
 */
export function toolPairs(list: readonly Message[]): ToolPairs {
  const pairs: ToolPair[] = [];
  const outer = new OpenCalls();
  const subagents = new Map<unknown, OpenCalls>();
  const openIn = (message: Message): OpenCalls => {
    const { parentRunId, runId } = metadataOf(message);
    if (typeof parentRunId !== "string") return outer;
    const open = subagents.get(runId) ?? new OpenCalls();
    subagents.set(runId, open);
    return open;
  };
  const isAnswer = (index: number): boolean => {
    const message = list[index] as ToolMessage;
    return openIn(message).answer(linkOf(message), index);
  };
  const early: number[] = [];
  for (const [index, message] of list.entries()) {
    const role = roleOf(message);
    if (role === "tool") {
      if (!isAnswer(index)) early.push(index);
      continue;
    }
    const calls = callsOf(message);
    const open = openIn(message);
    if (calls.length === 0) open.endBlock();
    for (const call of calls) {
      const pair = { call, id: linkOf(call), toolName: nameOfCall(call), callIndex: index, resultIndex: -1 };
      pairs.push(pair);
      open.add(pair);
    }
  }
  return { pairs, orphans: early.filter((index) => !isAnswer(index)) };
}

/** Calls of one block with the same id. Those before `next` are answered. */
interface Group {
  readonly block: number;
  readonly pairs: ToolPair[];
  next: number;
}

/** The calls that wait for a result, in blocks: the calls of assistant messages without any other message in between. */
class OpenCalls {
  // By id, the newest block last.
  readonly #groups = new Map<string, Group[]>();
  #block = 0;

  add(pair: ToolPair): void {
    const groups = this.#groups.get(pair.id) ?? [];
    const last = groups.at(-1);
    if (last?.block === this.#block) last.pairs.push(pair);
    else groups.push({ block: this.#block, pairs: [pair], next: 0 });
    this.#groups.set(pair.id, groups);
  }

  endBlock(): void {
    this.#block++;
  }

  /** Answers the first call with this id in the newest block that has one; false if no call waits for it. */
  answer(id: string, resultIndex: number): boolean {
    this.endBlock();
    const groups = this.#groups.get(id);
    const last = groups?.at(-1);
    const pair = last?.pairs[last.next];
    if (last === undefined || pair === undefined) return false;
    pair.resultIndex = resultIndex;
    last.next++;
    if (last.next === last.pairs.length) groups?.pop();
    if (groups?.length === 0) this.#groups.delete(id);
    return true;
  }
}
