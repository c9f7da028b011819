// Annotations: feedback on a run or on one of its messages.
import { type JsonValue, readJson } from "../../base/json.ts";
import { anything, checkOptions, type OptionRule, someText } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { checkId, type NamespaceRows } from "../head/namespace-rows.ts";
import { exists, type SessionCells, type StoreContext } from "../head/session-cell.ts";
import type { AnnotationRow } from "../ports/tables.ts";
import { plainCopy } from "../rows/plain-json.ts";
import { jsonOrNull } from "../rows/run-row.ts";
import { isOneOf } from "./lists.ts";
import { findRun } from "./run-reader.ts";

/** Feedback on a run or on one of its messages. */
export interface NewAnnotation {
  readonly runId: string;
  readonly messageId?: string | undefined;
  /** The kind of feedback: "bad", "thumbs-up", "score". */
  readonly label: string;
  readonly value?: JsonValue | undefined;
  readonly note?: string | undefined;
  /** The person or program that gave it. */
  readonly by?: string | undefined;
}

/** Feedback as it was stored. */
export interface Annotation extends NewAnnotation {
  readonly sessionId: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

const rules: Readonly<Record<keyof NewAnnotation, OptionRule>> = {
  runId: someText,
  messageId: someText,
  label: someText,
  value: anything,
  note: someText,
  by: someText,
};

/** Stores feedback. Rejects with `run-not-found` if there is no such run. */
export async function annotate(cells: SessionCells, annotation: NewAnnotation): Promise<Annotation> {
  checkOptions(annotation, rules, "annotate()");
  const { runId, messageId, label, value, note, by } = annotation;
  if (label === undefined)
    throw new OffstageError("invalid-argument", 'annotate() needs a "label", such as "bad" or "score".');
  checkId(runId, "run id");
  const run = await findRun(cells.context, runId);
  if (run === undefined) throw noRun(runId);
  const cell = cells.of(run.session_id);
  const data = value === undefined ? undefined : plainCopy(value, "value");
  return cell.update("run.annotate", async (change) => {
    const { head, writes } = change;
    if (!exists(head)) throw noRun(runId);
    const row: AnnotationRow = {
      namespace: cell.namespace,
      session_id: cell.id,
      seq: head.next_seq,
      run_id: runId,
      message_id: messageId ?? null,
      label,
      value: jsonOrNull(data),
      note: note ?? null,
      by: by ?? null,
      created_at: new Date().toISOString(),
      exact: null,
    };
    writes.push({ table: "annotations", row });
    change.head = { ...head, next_seq: head.next_seq + 1 };
    return readAnnotation(row);
  });
}

/** The feedback on a run, oldest first. */
export async function annotationsOf(cells: SessionCells, runId: string): Promise<Annotation[]> {
  const run = await findRun(cells.context, runId);
  if (run === undefined) return [];
  const rows = await cells.context.rows.read("annotations", { order: "run", prefix: [run.session_id, runId] });
  return readAnnotations(cells.context.rows, rows);
}

/** The feedback of these rows, oldest first in each session. A row of an unexpected form is reported and left out. */
export function readAnnotations(access: NamespaceRows, rows: readonly AnnotationRow[]): Annotation[] {
  const ordered = rows.toSorted((a, b) => a.seq - b.seq);
  return ordered.flatMap((row) => access.parse("annotations", row, readAnnotation) ?? []);
}

/** The feedback on all runs of these sessions, oldest first in each session. */
export async function annotationsIn({ rows }: StoreContext, sessionIds: readonly string[]): Promise<Annotation[]> {
  if (sessionIds.length === 0) return [];
  return readAnnotations(rows, await rows.select({ table: "annotations", where: isOneOf("session_id", sessionIds) }));
}

function readAnnotation(row: AnnotationRow): Annotation {
  const value = readJson(row.value);
  return {
    sessionId: row.session_id,
    runId: row.run_id,
    ...(row.message_id !== null && { messageId: row.message_id }),
    label: row.label,
    ...(value !== undefined && { value }),
    ...(row.note !== null && { note: row.note }),
    ...(row.by !== null && { by: row.by }),
    createdAt: row.created_at,
  };
}

function noRun(runId: string): OffstageError {
  return new OffstageError("run-not-found", `There is no run "${runId}" to annotate.`);
}
