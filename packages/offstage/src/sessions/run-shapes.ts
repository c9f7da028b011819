// Guards for the stored forms of runs and steps. The forms are defined in run-rows.ts.
import type { JsonObject } from "../base/json.ts";
import type { Message } from "../messages/message.ts";
import { runStatuses, type StepRecord } from "./journal.ts";
import type { PackedMessage } from "./packed-message.ts";
import { isPackedSpans } from "./packed-span.ts";
import type { KeptMessage, PackedRun, RareField, RunPlace, RunRow, StepRow } from "./run-rows.ts";
import {
  fields,
  isCount,
  isList,
  isNull,
  isNumberOrNull,
  isText,
  isUsage,
  listOf,
  mayBe,
  objectOf,
  oneOf,
  orZero,
  type Shape,
  some,
  tuple,
} from "./shape.ts";

/** True for the place of a run. */
export const isRunPlace: Shape<RunPlace> = tuple<RunPlace>(isId, isCount);

function isId(value: unknown): value is string {
  return isText(value) && value !== "";
}

const isJsonObject = objectOf<JsonObject>();
// The messages of a prompt are checked when they are parsed.
const isRare = fields<Pick<RunRow, RareField>>({
  error: mayBe(fields<NonNullable<RunRow["error"]>>({ code: isText, message: isText })),
  notes: mayBe(isJsonObject),
  parentRunId: mayBe(isText),
  parentToolCallId: mayBe(isText),
  prompt: mayBe(isList as Shape<readonly Message[]>),
  resumedIn: mayBe(listOf(isText)),
  rootRunId: mayBe(isText),
});

/** True for the stored form of a run. */
export const isPackedRun: Shape<PackedRun> = tuple<PackedRun>(
  ...([isId, isText, oneOf(...runStatuses), isText, isCount] as const),
  orZero(tuple<readonly [number, number]>(isCount, isCount)),
  ...([orZero(isText), orZero(isText), orZero(isText), orZero(isUsage)] as const),
  mayBe(isRare),
);

const areMessages = listOf<KeptMessage>(some(isCount, isText, isList as Shape<PackedMessage>, objectOf<Message>()));

/** True for the stored form of a finished step. Its messages are checked when they are parsed. */
export const isStepRow: Shape<StepRow> = tuple<StepRow>(
  (value): value is readonly KeptMessage[] => areMessages(value) && value.length > 0,
  isUsage,
  // A model may report no finish reason.
  some(isText, isNull),
  isText,
  isNumberOrNull,
  orZero(isPackedSpans),
  mayBe(fields<Pick<StepRecord, "notes">>({ notes: mayBe(isJsonObject) })),
);
