// Tool calls as records: a call, what it was given, what came back. Shared by the tool summary and the timeline.
import { isObject, parseJson } from "../messages/json.ts";
import type { Message, ToolMessage } from "../messages/message.ts";
import { contentOf, isErrorOf, jsonText, linkOf, metadataOf, nameOfResult, timeOf } from "./readers.ts";
import type { ToolPair } from "./tool-pairs.ts";

/** What is known of one call beside its name and id. */
export interface ToolCallFacts {
  /** The parsed arguments; the text itself where it is not JSON; undefined for a result without a call. */
  readonly arguments: unknown;
  /** The arguments as the model wrote them. */
  readonly rawArguments: string | undefined;
  /** The result as text; undefined where the call was not answered. */
  readonly result: string | undefined;
  readonly isError: boolean;
  readonly durationMs?: number;
  readonly runId?: string;
}

/** The facts of a call and its result. */
export function factsOfPair(list: readonly Message[], pair: ToolPair): ToolCallFacts {
  const { call, callIndex, resultIndex } = pair;
  const rawArguments = rawArgumentsOf(call.function);
  const asked = list[callIndex] as Message;
  const answer = resultIndex < 0 ? undefined : (list[resultIndex] as Message);
  return {
    arguments: argumentsOf(rawArguments),
    rawArguments,
    result: answer === undefined ? undefined : (contentOf(answer) ?? ""),
    isError: answer !== undefined && isErrorOf(answer),
    ...known(asked, answer),
  };
}

/** The facts of a result that answers no call. */
export function factsOfOrphan(answer: Message): ToolCallFacts {
  const result = contentOf(answer) ?? "";
  return {
    arguments: undefined,
    rawArguments: undefined,
    result,
    isError: isErrorOf(answer),
    ...known(answer, answer),
  };
}

/** The name and id under which an orphan result is shown. */
export function nameOfOrphan(answer: Message): { readonly toolName: string; readonly id: string } {
  return { toolName: nameOfResult(answer) ?? "unknown", id: linkOf(answer as ToolMessage) };
}

function rawArgumentsOf(called: unknown): string {
  const given = isObject(called) ? called.arguments : undefined;
  if (typeof given === "string") return given;
  return given === undefined || given === null ? "" : jsonText(given);
}

function argumentsOf(text: string): unknown {
  if (text === "" || text === "{}") return {};
  return parseJson(text) ?? text;
}

function known(asked: Message, answer: Message | undefined): Pick<ToolCallFacts, "durationMs" | "runId"> | undefined {
  const durationMs = answer === undefined || answer === asked ? undefined : durationOf(asked, answer);
  const { runId } = metadataOf(asked);
  if (durationMs === undefined && typeof runId !== "string") return undefined;
  return {
    ...(durationMs === undefined ? undefined : { durationMs }),
    ...(typeof runId === "string" ? { runId } : undefined),
  };
}

function durationOf(asked: Message, answer: Message): number | undefined {
  const { durationMs } = metadataOf(answer);
  if (typeof durationMs === "number") return durationMs;
  const from = timeOf(asked);
  const to = timeOf(answer);
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}
