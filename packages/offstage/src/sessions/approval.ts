// An approval: a call that waits for somebody's word, as results and stored runs tell of it. Deciding is the agent's.
import { type JsonValue, parseJson } from "../base/json.ts";

/** A call that waits for approval, of this run or of a subagent's. */
export interface Approval {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
  readonly agent: string;
  readonly runId: string;
}

/** The approval that a call of this run waits for. Arguments that are no JSON are shown as `{}`. */
export function approvalOf(
  {
    toolCallId,
    toolName,
    inputText,
  }: { readonly toolCallId: string; readonly toolName: string; readonly inputText: string },
  { agent, runId }: { readonly agent: string; readonly runId: string },
): Approval {
  return { toolCallId, toolName, input: parseJson(inputText) ?? {}, agent, runId };
}
