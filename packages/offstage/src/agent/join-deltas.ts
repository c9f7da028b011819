// Two deltas as one: what a slow reader gets. Of one run, one step and one call; a subagent's inside their wrapping.
import type { AgentEvent } from "./ports/events.ts";

/** The event itself: what a wrapped event of a subagent is about. */
export function subjectOf(event: AgentEvent): AgentEvent {
  return event.type === "subagent-event" ? subjectOf(event.event) : event;
}

/** The two as one longer delta; undefined where they are not deltas of the same thing. */
export function joinDeltas(first: AgentEvent, second: AgentEvent): AgentEvent | undefined {
  if (first.type === "subagent-event" && second.type === "subagent-event") {
    const event = joinDeltas(first.event, second.event);
    return event === undefined ? undefined : { ...first, event };
  }
  if (!isDelta(first) || !isDelta(second) || !isSame(first, second)) return undefined;
  return { ...first, delta: first.delta + second.delta };
}

type Delta = Extract<AgentEvent, { readonly delta: string }>;

function isDelta(event: AgentEvent): event is Delta {
  return "delta" in event;
}

function isSame(first: Delta, second: Delta): boolean {
  if (first.type !== second.type || first.runId !== second.runId || first.step !== second.step) return false;
  return first.type !== "tool-input-delta" || first.toolCallId === (second as typeof first).toolCallId;
}
