// A tool call that waits for approval, as results and stored runs show it. The agent acts on the decision.
import { type JsonValue, parseJson } from "../../base/json.ts";

/** A tool call of a run or of a subagent's run that waits for approval. */
export interface Approval {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
  readonly agent: string;
  readonly runId: string;
}

/** Describes a call that waits for approval. Arguments that are not JSON are shown as `{}`. */
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
