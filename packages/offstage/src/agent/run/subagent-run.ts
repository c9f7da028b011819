// The run of a subagent as its parent sees it, and the place of its messages among those of the parent.
import type { Message } from "../../messages/message.ts";
import type { RunResult } from "../ports/run-result.ts";

export interface SubagentRun {
  /** The call of the parent that the subagent answers. */
  readonly toolCallId: string | undefined;
  readonly result: RunResult<unknown>;
}

/** The messages of a run with those of its subagents: each before the result of its call, or at the end if there is none yet. */
export function withSubagents(messages: readonly Message[], subagents: readonly SubagentRun[]): readonly Message[] {
  if (subagents.length === 0) return messages;
  const byCall = new Map<string | undefined, SubagentRun[]>();
  for (const subagent of subagents)
    byCall.set(subagent.toolCallId, [...(byCall.get(subagent.toolCallId) ?? []), subagent]);
  const messagesOf = (called: readonly SubagentRun[]) => called.flatMap(({ result }) => result.messages.all());
  const placed = messages.flatMap((message) => {
    const called = message.role === "tool" ? byCall.get(message.tool_call_id) : undefined;
    if (called === undefined || message.role !== "tool") return message;
    byCall.delete(message.tool_call_id);
    return [...messagesOf(called), message];
  });
  return [...placed, ...messagesOf([...byCall.values()].flat())];
}
