// The header of a run in a report: facts on a line each, and texts in blocks. Formats decide how both look.
import { isObject } from "../../base/json.ts";
import type { Usage } from "../../tokens/usage.ts";
import { jsonText, textIn } from "../readers.ts";
import type { RunSummary } from "../run-summary.ts";
import { usageLine } from "../stats.ts";

/** A label and its text. The text is untrusted. */
export type RunFact = readonly [label: string, text: string];

/** A text with a title; `names` are short and belong to the title. All but the title is untrusted. */
export interface RunBlock {
  readonly title: "Error" | "Instructions" | "Annotation";
  readonly names: readonly string[];
  readonly text: string;
}

/** The facts of a run that are known. A run below its call needs no fact about that call, and its heading names the agent. */
export function factsOf(run: RunSummary, { isBelowCall }: { readonly isBelowCall: boolean }): RunFact[] {
  const { model, provider, status, reason } = run;
  const place: [string, string | undefined][] = [
    ["Agent", textIn(run.agent)],
    ["Session", textIn(run.sessionId)],
    ["Called by run", textIn(run.parentRunId)],
    ["Called by tool call", textIn(run.parentToolCallId)],
  ];
  const facts: [string, string | undefined][] = [
    ...(isBelowCall ? [["Run", textIn(run.runId)] as [string, string | undefined]] : place),
    ["Status", listed(status, reason)],
    ["Model", listed(model, provider)],
    ["Started", textIn(run.startedAt)],
    ["Ended", textIn(run.endedAt)],
    ["Duration", counted(run.durationMs, (ms) => `${ms} ms`)],
    ["Steps", counted(run.steps, String)],
    ["Usage", isObject(run.usage) ? usageLine(run.usage as unknown as Usage) : undefined],
    ["Cost", counted(run.cost, (cost) => `$${Number(cost.toPrecision(6))}`)],
  ];
  return facts.flatMap(([label, text]): RunFact[] => (text === undefined ? [] : [[label, text]]));
}

/** The error, the instructions and the annotations of a run. */
export function blocksOf({ error, instructions, annotations }: RunSummary): RunBlock[] {
  const blocks: RunBlock[] = [];
  if (isObject(error)) blocks.push({ title: "Error", names: names(error.code), text: textIn(error.message) ?? "" });
  if (typeof instructions === "string") blocks.push({ title: "Instructions", names: [], text: instructions });
  for (const annotation of Array.isArray(annotations) ? annotations.filter(isObject) : []) {
    const { label, value, note, by, createdAt } = annotation;
    const texts = [value === undefined ? undefined : jsonText(value), textIn(note)];
    const text = texts.filter((each) => each !== undefined).join("\n");
    blocks.push({ title: "Annotation", names: names(label, by, createdAt), text });
  }
  return blocks;
}

function names(...values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === "string");
}

function listed(...values: readonly unknown[]): string | undefined {
  return names(...values).join(", ") || undefined;
}

function counted(value: unknown, show: (value: number) => string): string | undefined {
  return typeof value === "number" ? show(value) : undefined;
}
