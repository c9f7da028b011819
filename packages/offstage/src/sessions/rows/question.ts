// The questions of a call, as JSON in its row: the latest question, and the answers so far.
import { isObject, type JsonValue, parseJson, readJson } from "../../base/json.ts";
import { textOf } from "../../messages/message.ts";
import type { AnswerRecord, QuestionRecord } from "../ports/run-record.ts";
import type { MessageRedactor } from "./redaction.ts";

/** The question of a call as it is stored. Its answers are redacted like messages. */
export function questionText(question: QuestionRecord, redact: MessageRedactor | undefined): string {
  if (redact === undefined) return JSON.stringify(question);
  const text = (content: string) => storedText(content, redact);
  const answers = question.answers.map(({ message, value, ...rest }) => ({
    message: text(message),
    ...rest,
    ...(value !== undefined && { value: redactedAnswer(value, text) }),
  }));
  return JSON.stringify({ ...question, message: text(question.message), answers });
}

/** A text of a question or an answer as it is stored. */
export function storedText(content: string, redact: MessageRedactor | undefined): string {
  return redact === undefined ? content : textOf(redact({ role: "user", content }));
}

function redactedAnswer(value: JsonValue, text: (content: string) => string): JsonValue {
  if (typeof value === "string") return text(value);
  const redacted = text(JSON.stringify(value));
  return parseJson(redacted) ?? redacted;
}

/** The record of a question that was answered. */
export function answeredQuestion(answers: readonly AnswerRecord[]): QuestionRecord {
  return { message: answers.at(-1)?.message ?? "", answers };
}

/** The question of a row; undefined if there is none. Throws if it has an unexpected form. */
export function readQuestion(question: string | null): QuestionRecord | undefined {
  return readJson(question, isQuestion);
}

function isQuestion(value: unknown): value is QuestionRecord {
  if (!isObject(value) || typeof value.message !== "string") return false;
  return Array.isArray(value.answers) && value.answers.every(isAnswer);
}

function isAnswer(value: unknown): boolean {
  return isObject(value) && typeof value.message === "string";
}
