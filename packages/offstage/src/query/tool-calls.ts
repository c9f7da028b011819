// Tool calls as records: a call, what it was given, what came back. Shared by the tool summary and the timeline.
import { isObject, parseJson } from "../base/json.ts";
import type { Message, ToolMessage } from "../messages/message.ts";
import { contentOf, jsonText, linkOf, metadataOf, nameOfResult, timeOf } from "./readers.ts";
import type { ToolPair } from "./tool-pairs.ts";

/** One call with its result, or a result that answers no call. */
export interface ToolCallRecord {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The parsed input; the text itself if it is not JSON; undefined for a result without a call. */
  readonly input: unknown;
  /** The input as the model wrote it. */
  readonly inputText: string | undefined;
  /** The result as text; undefined where the call was not answered. */
  readonly result: string | undefined;
  readonly isError: boolean;
  /** How long the tool took, where its messages say so. */
  readonly durationMs: number | undefined;
  readonly runId: string | undefined;
}

/** The record of a call and its result. */
export function recordOfPair(list: readonly Message[], pair: ToolPair): ToolCallRecord {
  const { call, id, toolName, callIndex, resultIndex } = pair;
  const asked = list[callIndex] as Message;
  const inputText = writtenText(asked, id) ?? storedText(call.function);
  const answer = resultIndex < 0 ? undefined : (list[resultIndex] as Message);
  const { runId } = metadataOf(asked);
  return {
    toolCallId: id,
    toolName,
    input: inputOf(inputText),
    inputText,
    result: answer === undefined ? undefined : (contentOf(answer) ?? ""),
    isError: answer !== undefined && metadataOf(answer).isError === true,
    durationMs: answer === undefined ? undefined : durationOf(asked, answer),
    runId: typeof runId === "string" ? runId : undefined,
  };
}

/** The record of a result that answers no call. */
export function recordOfOrphan(answer: Message): ToolCallRecord {
  const { isError, durationMs, runId } = metadataOf(answer);
  return {
    toolCallId: linkOf(answer as ToolMessage),
    toolName: nameOfResult(answer) ?? "unknown",
    input: undefined,
    inputText: undefined,
    result: contentOf(answer) ?? "",
    isError: isError === true,
    durationMs: typeof durationMs === "number" ? durationMs : undefined,
    runId: typeof runId === "string" ? runId : undefined,
  };
}

// A message holds what can be sent; where the model wrote something else, its metadata has that.
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
