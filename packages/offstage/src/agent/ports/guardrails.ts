// Guardrails: checks that may block the input of a run, its answer, and the input and output of its tools. Every trip is reported.

import { Cancellation } from "../../base/cancellation.ts";
import { isObject, type JsonValue } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { AnyValues, ContextOf } from "../../state/agent-context.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import { withSpan } from "../../tracing/with-span.ts";

/** The second argument of a check. */
export interface GuardrailOptions<Values extends object = AnyValues> {
  readonly context: ContextOf<Values>;
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly agent: string;
}

/** `true` or undefined passes; `false` or a sentence blocks. */
export type GuardrailVerdict =
  | boolean
  | string
  | undefined
  | { readonly blocked: boolean; readonly message?: string | undefined; readonly info?: JsonValue | undefined };

/** A named check that may block. */
export interface Guardrail<Subject, Values extends object = AnyValues> {
  readonly name: string;
  check(subject: Subject, options: GuardrailOptions<Values>): GuardrailVerdict | Promise<GuardrailVerdict>;
}

/** Checks the new messages of a run. */
export type InputGuardrail<Values extends object = AnyValues> = Guardrail<
  { readonly text: string; readonly messages: readonly Message[] },
  Values
>;
/** Checks the answer before it is stored, streamed or returned. */
export type OutputGuardrail<Values extends object = AnyValues> = Guardrail<
  { readonly text: string; readonly output: unknown },
  Values
>;
/** Checks a call before its tool runs. */
export type ToolInputGuardrail<Values extends object = AnyValues> = Guardrail<
  { readonly call: StepToolCall; readonly input: unknown },
  Values
>;
/** Checks a result before the model sees it. */
export type ToolOutputGuardrail<Values extends object = AnyValues> = Guardrail<
  { readonly call: StepToolCall; readonly result: ToolResult },
  Values
>;

export interface Guardrails<Values extends object = AnyValues> {
  readonly input?: readonly InputGuardrail<Values>[] | undefined;
  readonly output?: readonly OutputGuardrail<Values>[] | undefined;
  readonly toolInput?: readonly ToolInputGuardrail<Values>[] | undefined;
  readonly toolOutput?: readonly ToolOutputGuardrail<Values>[] | undefined;
}

/** The guardrails of an agent, by stage; a list may be empty. */
export type GuardrailLists = { readonly [Stage in keyof Guardrails]-?: NonNullable<Guardrails[Stage]> };

/** A guardrail that blocked. */
export interface GuardrailTrip {
  readonly guardrail: string;
  readonly stage: keyof Guardrails;
  readonly message: string;
  readonly toolCallId?: string;
  readonly info?: JsonValue;
}

/** Asks all guardrails about a subject, in parallel, and returns their trips. Throws `guardrail-failed` if one of them throws. */
export async function checkGuardrails<Subject>(
  guardrails: readonly Guardrail<Subject>[],
  subject: Subject,
  options: GuardrailOptions & { readonly stage: keyof Guardrails },
): Promise<GuardrailTrip[]> {
  const { stage, signal } = options;
  const verdicts = await Promise.all(
    guardrails.map((guardrail) =>
      withSpan(guardrail.name, { kind: "guardrail", metadata: { stage }, signal }, () =>
        ask(guardrail, subject, options),
      ),
    ),
  );
  return verdicts.flatMap((verdict, index) => tripOf(verdict, guardrails[index]?.name ?? "guardrail", options.stage));
}

async function ask<Subject>(
  guardrail: Guardrail<Subject>,
  subject: Subject,
  options: GuardrailOptions,
): Promise<GuardrailVerdict> {
  try {
    using cancellation = new Cancellation(options.signal);
    return checkVerdict(await cancellation.race(guardrail.check(subject, options)));
  } catch (cause) {
    options.signal.throwIfAborted();
    const sentence = `The guardrail "${guardrail.name}" failed, so the run was stopped: ${messageOf(cause)}`;
    throw new OffstageError("guardrail-failed", sentence, { cause });
  }
}

// Fails closed: a value that is not a verdict blocks the run.
function checkVerdict(verdict: GuardrailVerdict): GuardrailVerdict {
  if (verdict === undefined || typeof verdict === "boolean" || typeof verdict === "string") return verdict;
  if (isObject(verdict) && typeof verdict.blocked === "boolean") return verdict;
  const sentence = `its check must return true, false, a sentence or { blocked: boolean, message? }; found ${shownValue(verdict)}.`;
  throw new OffstageError("invalid-argument", sentence);
}

function tripOf(verdict: GuardrailVerdict, guardrail: string, stage: keyof Guardrails): GuardrailTrip[] {
  if (verdict === undefined || verdict === true) return [];
  const fallback = `Blocked by the guardrail "${guardrail}".`;
  if (verdict === false) return [{ guardrail, stage, message: fallback }];
  if (typeof verdict === "string") return [{ guardrail, stage, message: verdict || fallback }];
  const { blocked, message = fallback, info } = verdict;
  return blocked ? [{ guardrail, stage, message, ...(info === undefined ? undefined : { info }) }] : [];
}
