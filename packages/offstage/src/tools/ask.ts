// Questions: a tool asks a person, and its run waits for the answer. The tool then runs again from its start, and is given the
// answers that are recorded, in the order in which it asks.
import type { JsonObject, JsonValue } from "../base/json.ts";
import { anything, checkOptions, type OptionRule, shownValue, someFunction } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { AskedQuestion, RecordedAnswer } from "../state/pending-step.ts";
import { type AnySchema, type CompiledSchema, compileSchema, type OutputOf } from "./schema.ts";
import { ToolWaiting } from "./tool-answer.ts";

/** A question to a person. */
export interface Question<Schema = undefined> {
  /** The question, as the person reads it. An answer belongs to this text: ask the same text when the tool runs again. */
  readonly message: string;
  /** The schema of the answer: a Standard Schema or JSON Schema. Default: any JSON value. */
  readonly schema?: Schema | undefined;
  /** State that the tool needs to go on, as JSON. Kept with the question, never shown, and in `asked` when the tool runs again. */
  readonly state?: JsonValue | undefined;
  /** Called if the run has to wait: closes what is open, because the code after `ask` does not run. */
  readonly onWait?: (() => void) | undefined;
}

/** A question that a call asked before it was run again. It has an answer, which `ask` returns for the same message. */
export interface EarlierQuestion {
  readonly message: string;
  readonly state?: JsonValue | undefined;
}

/** The answer of a person who does not want to answer. */
export interface Declined {
  readonly declined: true;
}

type Given<Value> = Value extends object
  ? (Value & { readonly declined?: undefined }) | (Declined & { readonly [Key in keyof Value]?: undefined })
  : Value | Declined;

/** The answer to a question: a value that fits its schema, or `{ declined: true }`. */
export type Answer<Schema> = Schema extends undefined ? unknown : Given<OutputOf<Schema>>;

/**
 * Asks a person. Without an answer the run pauses here, for days if need be, and the code after this line does not run. Once there
 * is an answer, the tool runs again from its start and `ask` returns it.
 */
export type Ask = <Schema extends AnySchema | undefined = undefined>(
  question: Question<Schema>,
) => Promise<Answer<Schema>>;

/** The questions that a call may ask. */
export interface CallQuestions {
  readonly ask: Ask;
  /** How long the call has waited for `answer` so far. */
  askedMs(): number;
}

export interface QuestionsOptions {
  /** The answers that were given so far. */
  readonly answers: readonly RecordedAnswer[];
  /** The text of a question as the record keeps it: a redactor may have changed it. */
  recorded(text: string): string;
  /** Asks for an answer at once; undefined if the run has to wait. */
  answer(question: AskedQuestion, earlier: readonly RecordedAnswer[]): Promise<RecordedAnswer | undefined>;
  /** Called when the call has to wait for an answer. */
  wait(waiting: ToolWaiting): void;
}

const questionRules: Readonly<Record<keyof Question, OptionRule>> = {
  message: { isFit: (value) => typeof value === "string" && value.trim() !== "", words: "a question as text" },
  schema: anything,
  state: anything,
  onWait: someFunction,
};

/** The questions of one call. The n-th question gets the n-th recorded answer, if that was given to the same text. */
export function callQuestions(options: QuestionsOptions): CallQuestions {
  let given = options.answers;
  let asked = 0;
  let [askedMs, since] = [0, undefined as number | undefined];
  // One question at a time: the next one is asked when the one before is answered.
  let previous: Promise<unknown> | undefined;
  const answerTo = async (question: Question<unknown>): Promise<unknown> => {
    const { message } = question;
    const schema = schemaOf(question);
    const place = asked++;
    const known = given[place];
    const isSame = known?.message === message || (known && known.message === options.recorded(message));
    const found = isSame ? await givenValue(known, schema) : undefined;
    if (found !== undefined) return found.value;
    // An answer to another question does not count, nor do those after it.
    given = given.slice(0, place);
    const pending = {
      message,
      ...(schema && { schema: schema.jsonSchema as JsonObject }),
      ...(question.state !== undefined && { state: plainState(question.state) }),
    };
    since = performance.now();
    const inline = await options.answer(pending, given);
    askedMs += performance.now() - since;
    since = undefined;
    const now = inline && (await givenValue(inline, schema));
    if (inline === undefined || now === undefined) {
      question.onWait?.();
      options.wait(new ToolWaiting({ question: pending, answers: given }));
      return new Promise(() => {});
    }
    given = [...given, inline];
    return now.value;
  };
  const ask = (question: Question<unknown>): Promise<unknown> => {
    const answering = Promise.resolve(previous).then(() => answerTo(question));
    previous = answering.catch(() => undefined);
    return answering;
  };
  const total = (): number => askedMs + (since === undefined ? 0 : performance.now() - since);
  return { ask: ask as Ask, askedMs: total };
}

function plainState(state: JsonValue): JsonValue {
  try {
    return JSON.parse(JSON.stringify(state)) as JsonValue;
  } catch (cause) {
    throw new OffstageError("invalid-argument", "The state of a question must be JSON.", { cause });
  }
}

/** An answer with what is kept of its question. */
export function recordedAnswer(
  question: AskedQuestion | undefined,
  answer: { readonly value: JsonValue } | { readonly declined: true },
): RecordedAnswer {
  const { message = "", state } = question ?? {};
  return { message, ...answer, ...(state !== undefined && { state }) };
}

function schemaOf(question: Question<unknown>): CompiledSchema | undefined {
  checkOptions(question, questionRules, "ask()");
  if (question?.message === undefined)
    throw new OffstageError("invalid-argument", `ask() needs a message; found ${shownValue(question)}.`);
  if (question.schema === undefined) return undefined;
  return compileSchema(question.schema, { name: "the question", code: "invalid-argument" });
}

// Undefined if the answer does not fit, so that the person is asked again.
async function givenValue(
  { value, declined }: RecordedAnswer,
  schema: CompiledSchema | undefined,
): Promise<{ readonly value: unknown } | undefined> {
  if (declined) return { value: { declined } };
  const checked = schema === undefined ? { value } : await schema.check(value);
  return "value" in checked ? checked : undefined;
}

/** Checks an answer against the JSON Schema of its question. Throws `invalid-argument` if it does not fit. */
export async function checkAnswer(value: JsonValue, question: AskedQuestion, toolCallId: string): Promise<void> {
  if (question.schema === undefined) return;
  const schema = compileSchema(question.schema, { name: "the question", code: "invalid-argument" });
  const checked = await schema.check(value);
  if ("value" in checked) return;
  const list = checked.problems.map((each) => `- ${each}`).join("\n");
  throw new OffstageError(
    "invalid-argument",
    `The answer to tool call "${toolCallId}" does not fit its question, so nothing was decided:\n${list}`,
  );
}
