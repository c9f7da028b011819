// Tells a run from its record, as it would have been told live: for readers that come later, or in another process.
import { isObject, type JsonValue, parseJson } from "../../base/json.ts";
import {
  type AssistantMessage,
  type Message,
  resultStatus,
  type ToolMessage,
  textOf,
  toolCallsOf,
} from "../../messages/message.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import type { ServedEvent } from "./served-event.ts";
import { inputOf, ownRun, type Place, type Teller } from "./teller.ts";

export interface TellRecordOptions {
  /** Reads the record of a subagent's run. */
  readonly read: (runId: string) => Promise<FoundRun | undefined>;
  /** The last step that was told already. Default 0. */
  readonly after?: number;
}

/** The start, the finished steps and the open step of a recorded run; the end too if the run has ended. */
export async function tellRecord(run: FoundRun, teller: Teller, options: TellRecordOptions): Promise<ServedEvent[]> {
  const events = [teller.start(run.agent), ...(await tellSteps(run, teller, options))];
  return run.status === "running" ? events : [...events, ...tellEnd(run, teller)];
}

/** The steps of a recorded run that have not been told. An open step is told if it waits for a person. */
export async function tellSteps(
  run: FoundRun,
  teller: Teller,
  { read, after = 0 }: TellRecordOptions,
  place: Place = ownRun,
): Promise<ServedEvent[]> {
  const events: ServedEvent[] = [];
  for (const { step, messages } of run.steps) {
    const [reply, ...rest] = messages as readonly [AssistantMessage, ...ToolMessage[]];
    const isAnswer = run.status === "completed" && step === run.steps.at(-1)?.step;
    if (step > after) {
      events.push(...(await tellReply({ run, teller, read, place }, step, { reply, results: rest })));
      events.push(...teller.stepEnd(step, isAnswer, place));
    }
    // A message may join after its step was told.
    if (place.subagent === undefined) events.push(...messages.filter(isJoined).flatMap((each) => teller.joined(each)));
  }
  const { openStep } = run;
  if (openStep === undefined || run.status !== "waiting") return events;
  const { step, message, results } = openStep;
  events.push(...(await tellReply({ run, teller, read, place }, step, { reply: message, results })));
  if (place.subagent === undefined) events.push(...teller.waiting(run.approvals, step));
  return events;
}

function isJoined({ role, metadata }: Message): boolean {
  return role === "user" && metadata?.isJoined === true;
}

/** The end of a recorded run. */
export function tellEnd(run: FoundRun, teller: Teller): ServedEvent[] {
  const { status, reason, error } = run;
  if (status === "running") return [];
  const end = { status, reason: reason ?? status, ...(error !== undefined && { error: error.code }) };
  return [teller.end(end)];
}

interface Telling {
  readonly run: FoundRun;
  readonly teller: Teller;
  readonly read: TellRecordOptions["read"];
  readonly place: Place;
}

interface Reply {
  readonly reply: AssistantMessage;
  readonly results: readonly ToolMessage[];
}

async function tellReply(
  { run, teller, read, place }: Telling,
  step: number,
  { reply, results }: Reply,
): Promise<ServedEvent[]> {
  // The text of a step that waited was told before the run was resumed.
  const isTold = place.subagent === undefined && teller.isOpen(step);
  const said = isTold
    ? []
    : [...teller.reasoning(step, reasoningOf(reply), place), ...teller.text(step, textOf(reply), place)];
  const events = [...teller.stepStart(step, place), ...said];
  const calls = toolCallsOf(reply).map((call) => {
    const { name: toolName, arguments: inputText } = call.function;
    return { call: { step, toolCallId: call.id, toolName }, input: inputOf(writtenText(reply, call.id) ?? inputText) };
  });
  const waiting = new Set(run.openStep?.step === step ? (run.openStep.waiting ?? []) : []);
  for (const { call, input } of calls)
    if (!waiting.has(call.toolCallId)) events.push(...teller.toolStart(call, input, place));
  for (const { call, input } of calls) {
    for (const child of run.children.filter((each) => each.parentToolCallId === call.toolCallId)) {
      const below = teller.below(call, child, place);
      const record = below.isShown ? await read(child.runId) : undefined;
      if (record !== undefined) events.push(...(await tellSteps(record, teller, { read }, below)));
    }
    const result = results.find(({ tool_call_id }) => tool_call_id === call.toolCallId);
    if (result !== undefined)
      events.push(...teller.toolEnd(call, { input, output: outputOf(result), status: resultStatus(result) }, place));
  }
  return events;
}

function reasoningOf({ metadata }: AssistantMessage): string {
  const parts: readonly unknown[] = metadata?.providerParts ?? [];
  return parts
    .filter(isObject)
    .map(({ type, text }) => (type === "reasoning" && typeof text === "string" ? text : ""))
    .join("");
}

// A message holds input that can be sent. If the model wrote something else, the metadata has it.
function writtenText({ metadata }: AssistantMessage, toolCallId: string): string | undefined {
  const texts = metadata?.inputTexts;
  const written = isObject(texts) && Object.hasOwn(texts, toolCallId) ? texts[toolCallId] : undefined;
  return typeof written === "string" ? written : undefined;
}

// As live events have it: the value of a result that was not clipped, otherwise its text.
function outputOf(result: ToolMessage): JsonValue {
  const text = textOf(result);
  const value = result.metadata?.isJson === true ? parseJson(text) : undefined;
  return value === undefined ? text : value;
}
