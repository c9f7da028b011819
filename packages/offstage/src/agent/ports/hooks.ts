// Hooks observe a run. They are called with its events and not awaited, and can neither change nor break the run.
import { isThenable } from "../../base/thenable.ts";
import { warn } from "../../base/warn.ts";
import { messageOf } from "../../errors.ts";
import type { AnyValues, ContextOf } from "../../state/agent-context.ts";
import type * as Event from "./events.ts";

/** The second argument of a hook. */
export interface HookOptions<Values extends object = Record<string, unknown>> {
  /** The run's shared key-value state. */
  readonly context: ContextOf<Values>;
}

// The type of a method, so that a hook may narrow the context: `(event, { context }: HookOptions<MyValues>) => …`.
type Hook<E, Values extends object = AnyValues> = { call(event: E, options: HookOptions<Values>): unknown }["call"];

/** Functions that are called as events happen. If one fails, `onError` gets its error; by default it is printed as a warning. */
export interface AgentHooks<Values extends object = AnyValues> {
  readonly onRunStart?: Hook<Event.RunStartEvent, Values> | undefined;
  readonly onStepStart?: Hook<Event.StepStartEvent, Values> | undefined;
  readonly onModelStart?: Hook<Event.ModelStartEvent, Values> | undefined;
  readonly onModelRetry?: Hook<Event.ModelRetryEvent, Values> | undefined;
  readonly onModelFallback?: Hook<Event.ModelFallbackEvent, Values> | undefined;
  readonly onModelEnd?: Hook<Event.ModelEndEvent, Values> | undefined;
  readonly onApprovalRequest?: Hook<Event.ApprovalRequestEvent, Values> | undefined;
  readonly onToolStart?: Hook<Event.ToolStartEvent, Values> | undefined;
  readonly onToolProgress?: Hook<Event.ToolProgressEvent, Values> | undefined;
  readonly onToolEnd?: Hook<Event.ToolEndEvent, Values> | undefined;
  readonly onStepEnd?: Hook<Event.StepEndEvent, Values> | undefined;
  readonly onHistoryCut?: Hook<Event.HistoryCutEvent, Values> | undefined;
  readonly onCompactionEnd?: Hook<Event.CompactionEndEvent, Values> | undefined;
  readonly onGuardrailTrip?: Hook<Event.GuardrailTripEvent, Values> | undefined;
  readonly onMessageAdded?: Hook<Event.MessageAddedEvent, Values> | undefined;
  readonly onMessageJoined?: Hook<Event.MessageJoinedEvent, Values> | undefined;
  readonly onError?: Hook<Event.ErrorEvent, Values> | undefined;
  readonly onRunEnd?: Hook<Event.RunEndEvent, Values> | undefined;
}

const hookOf: Partial<Record<Event.AgentEvent["type"], keyof AgentHooks>> = {
  "run-start": "onRunStart",
  "step-start": "onStepStart",
  "model-start": "onModelStart",
  "model-retry": "onModelRetry",
  "model-fallback": "onModelFallback",
  "model-end": "onModelEnd",
  "approval-request": "onApprovalRequest",
  "tool-start": "onToolStart",
  "tool-progress": "onToolProgress",
  "tool-end": "onToolEnd",
  "step-end": "onStepEnd",
  "history-cut": "onHistoryCut",
  "compaction-end": "onCompactionEnd",
  "guardrail-trip": "onGuardrailTrip",
  "message-added": "onMessageAdded",
  "message-joined": "onMessageJoined",
  error: "onError",
  "run-end": "onRunEnd",
};

/** The names of all hooks. */
export const hookNames: readonly string[] = Object.values(hookOf);

/** A listener that calls these hooks. */
export function emitToHooks(hooks: AgentHooks, options: HookOptions): Event.Emit {
  return (event) => {
    const name = hookOf[event.type];
    if (name !== undefined) call(hooks, name, { event, options });
  };
}

interface HookCall {
  readonly event: Event.AgentEvent;
  readonly options: HookOptions;
}

function call(hooks: AgentHooks, name: keyof AgentHooks, { event, options }: HookCall): void {
  const onFailure = (error: unknown) => report(hooks, name, { error, event, options });
  try {
    const pending = (hooks[name] as Hook<Event.AgentEvent> | undefined)?.(event, options);
    if (isThenable(pending)) pending.then(undefined, onFailure);
  } catch (error) {
    onFailure(error);
  }
}

interface HookFailure extends HookCall {
  readonly error: unknown;
}

function report(hooks: AgentHooks, source: keyof AgentHooks, { error, event, options }: HookFailure): void {
  const { runId, agent } = event;
  if (source === "onError" || hooks.onError === undefined) {
    warn(`The hook "${source}" of agent "${agent}" failed: ${messageOf(error)}`);
    return;
  }
  call(hooks, "onError", { event: { type: "error", runId, agent, error, source }, options });
}
