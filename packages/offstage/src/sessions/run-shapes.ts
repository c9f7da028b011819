// Run shapes: the forms of the rows of runs, for those who read them. The rows themselves are run-rows.ts.
import { isObject } from "../messages/json.ts";
import { runStatuses } from "./journal.ts";
import { isPackedSpans } from "./packed-span.ts";
import type { PackedRun, RareField, RunPlace, StepRow } from "./run-rows.ts";
import {
  fields,
  isCount,
  isList,
  isNull,
  isNumber,
  isText,
  isUsage,
  listOf,
  mayBe,
  oneOf,
  orZero,
  type Shape,
  some,
  tuple,
} from "./shape.ts";

const isPlace = tuple(isText, isCount);

/** Where a run is. */
export function isRunPlace(value: unknown): value is RunPlace {
  return isPlace(value) && (value as RunPlace)[0] !== "";
}

const rareShapes: Readonly<Record<RareField, Shape>> = {
  error: mayBe(fields({ code: isText, message: isText })),
  notes: mayBe(isObject),
  parentRunId: mayBe(isText),
  parentToolCallId: mayBe(isText),
  prompt: mayBe(isList),
  resumedIn: mayBe(listOf(isText)),
  rootRunId: mayBe(isText),
};

const isRun = tuple(
  ...[isText, isText, oneOf(...runStatuses), isText, isCount],
  orZero(tuple(isCount, isCount)),
  ...[orZero(isText), orZero(isText), orZero(isText), orZero(isUsage)],
  mayBe(fields(rareShapes)),
);

/** A run. The messages of its prompt are not looked at. */
export function isPackedRun(value: unknown): value is PackedRun {
  return isRun(value) && (value as PackedRun)[0] !== "";
}

const areMessages = listOf(some(isCount, isText, isList, isObject));

const isStep = tuple(
  (value) => areMessages(value) && (value as unknown[]).length > 0,
  isUsage,
  // A model may have said none.
  some(isText, isNull),
  isText,
  isNumber,
  orZero(isPackedSpans),
  mayBe(fields({ notes: mayBe(isObject) })),
);

/** A finished step. Its messages are not looked at. */
export function isStepRow(value: unknown): value is StepRow {
  return isStep(value);
}
