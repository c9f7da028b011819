// offstage why: why a run ended as it did. Every vote, error and retry, step by step, and what to look at next.

import type { StepRecord } from "../../../doors/sessions.ts";
import { textOf } from "../../../messages/message.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io } from "../../io.ts";
import { headingLine } from "../../output/blocks.ts";
import { callLines } from "../../output/calls.ts";
import { fit, pad, wrap } from "../../output/columns.ts";
import { shortId } from "../../output/short-ids.ts";
import { counted, duration, markOf, styleOf } from "../../output/words.ts";
import { type CallDetail, callsOf, type RunDetail, runDetail } from "../../store/run-detail.ts";

export const command: Command = defineCommand({
  options: {},
  examples: ["offstage why last", "offstage why 3f9a --json"],
  keys: ["runId", "sessionId", "status", "reason", "stopReason", "error", "because", "steps"],
  async run({ positionals: [wanted = "last"] }, io) {
    const detail = await runDetail(await io.openStore(), wanted);
    const { runId, sessionId, status, reason, stopReason, error } = detail.run;
    const steps = detail.run.steps.map((step) => told(step, detail));
    const because = becauseOf(detail, steps);
    if (io.isJson) {
      io.record({
        runId,
        sessionId,
        status,
        reason: reason ?? null,
        stopReason: stopReason ?? null,
        error: error ?? null,
        because,
        steps: steps.map(asJson),
      });
      return 0;
    }
    const style = styleOf(status) ?? "dim";
    io.print(
      io.paint(
        style,
        fit(`${markOf(status)} ${status}${reason === undefined ? "" : `: ${io.inline(reason)}`}`, io.width),
      ),
    );
    for (const line of wrap(io.block(because), io.width - 2)) io.print(`  ${line}`);
    for (const step of steps) for (const line of stepLines(io, step)) io.print(line);
    for (const line of openLines(io, detail)) io.print(line);
    for (const line of attemptLines(io, detail)) io.print(line);
    io.print();
    for (const line of nextLines(io, detail, steps)) io.print(io.paint("dim", fit(`  ${line}`, io.width)));
    return 0;
  },
});

interface ToldStep {
  readonly record: StepRecord;
  readonly calls: readonly CallDetail[];
  readonly failures: readonly CallDetail[];
  readonly interrupted: readonly CallDetail[];
}

function told(record: StepRecord, detail: RunDetail): ToldStep {
  const calls = callsOf(record.messages, detail);
  const endedAs = (wanted: CallDetail["status"]) => calls.filter(({ status }) => status === wanted);
  return { record, calls, failures: endedAs("error"), interrupted: endedAs("interrupted") };
}

// One sentence or a few, in the order in which it happened.
function becauseOf({ run }: RunDetail, steps: readonly ToldStep[]): string {
  const { status, reason, stopReason, error, openStep, approvals } = run;
  const failures = steps.reduce((sum, step) => sum + step.failures.length, 0);
  const interrupted = steps.reduce((sum, step) => sum + step.interrupted.length, 0);
  const calls = steps.reduce((sum, step) => sum + step.calls.length, 0);
  const retries = steps.reduce(
    (sum, { record }) => sum + (record.retries?.length ?? 0),
    run.failedAttempts?.length ?? 0,
  );
  const decisive = steps.at(-1)?.record.verdicts?.find((vote) => vote.reason === reason);
  const asked = stopReason && `it was asked to: ${stopReason}`;
  const after = steps.length === 0 ? "before its first step was finished" : `after ${counted(steps.length, "step")}`;
  const questions = approvals.filter(({ kind }) => kind === "question").length;
  const decisions = approvals.length - questions;
  const waitsFor = [
    ...(decisions > 0 || questions === 0 ? [`decide about ${counted(decisions, "call")}`] : []),
    ...(questions > 0 ? [`answer ${counted(questions, "question")}`] : []),
  ].join(" and ");
  const endings: Readonly<Record<string, string>> = {
    completed: `It answered ${after}.`,
    failed: `It failed ${after}: ${error?.message ?? reason ?? "for an unknown reason"}`,
    stopped: `It was stopped ${after}: ${decisive?.message ?? error?.message ?? asked ?? reason ?? "for an unknown reason"}`,
    waiting: `It waits for a person to ${waitsFor}.`,
    running: `It is running, and has finished ${counted(steps.length, "step")}.`,
    interrupted: `Its process ended ${after}. agent.resume(runId, { store }) continues it.`,
  };
  const tools = failures === 0 ? "" : ` ${failures} of its ${counted(calls, "tool call")} failed.`;
  // Only a run that is resumed says of a call that it was interrupted.
  const cut =
    interrupted === 0 ? "" : ` Its process had ended while ${counted(interrupted, "call")} ran, and it was resumed.`;
  const again =
    retries === 0
      ? ""
      : ` The model was called again ${retries === 1 ? "once" : `${retries} times`} after failed attempts.`;
  const open =
    openStep === undefined || status === "waiting" ? "" : ` ${counted(openStep.pending.length, "call")} had no result.`;
  const ending = (endings[status] ?? status).replace(/([^.!?])$/, "$1.");
  return `${ending}${tools}${cut}${again}${open}`;
}

function stepLines(io: Io, { record, calls, failures, interrupted }: ToldStep): string[] {
  const { step, finishReason, durationMs, retries = [], verdicts = [] } = record;
  const tools = calls.length === 0 ? "" : `, ${counted(calls.length, "tool")}`;
  const widest = Math.min(20, Math.max(0, ...verdicts.map(({ criterion }) => criterion.length)));
  return [
    "",
    headingLine(io, {
      bar: failures.length > 0 ? "red" : interrupted.length > 0 ? "yellow" : "green",
      title: `step ${step}`,
      // How long a step took that was interrupted is not known.
      note: `${io.inline(finishReason)}${tools}${interrupted.length > 0 ? "" : `, ${duration(durationMs)}`}`,
    }),
    ...retryLines(io, retries),
    ...[...failures, ...interrupted].flatMap((call) => callLines(io, call)),
    ...verdicts.map(({ criterion, decision, message }) => {
      const name = pad(io.inline(criterion), widest);
      const style = decision === "stop" ? "red" : decision === "continue" ? "cyan" : "dim";
      const room = io.width - widest - 17;
      return `    ${io.paint(style, pad(decision, 8))}  ${name}  ${io.paint("dim", fit(io.inline(message, room), room))}`.trimEnd();
    }),
  ];
}

function retryLines(io: Io, retries: NonNullable<StepRecord["retries"]>): string[] {
  return retries.map(({ attempt, delayMs, error }) => {
    const line = `    ↻ attempt ${attempt} failed, again after ${duration(delayMs)}: ${io.inline(error, io.width)}`;
    return io.paint("yellow", fit(line, io.width));
  });
}

// The attempts of the model call with which the run failed. Its step is not finished.
function attemptLines(io: Io, { run }: RunDetail): string[] {
  const { failedAttempts, steps } = run;
  if (failedAttempts === undefined) return [];
  const heading = headingLine(io, { bar: "red", title: `step ${steps.length + 1}`, note: "the model failed" });
  return ["", heading, ...retryLines(io, failedAttempts)];
}

function openLines(io: Io, detail: RunDetail): string[] {
  const { openStep, status } = detail.run;
  if (openStep === undefined) return [];
  const calls = callsOf([openStep.message, ...openStep.results], detail);
  return [
    "",
    headingLine(io, { bar: "magenta", title: `step ${openStep.step}`, note: status }),
    ...calls.flatMap((call) => callLines(io, call)),
  ];
}

function nextLines(io: Io, { run }: RunDetail, steps: readonly ToldStep[]): string[] {
  const id = io.inline(shortId(run.runId));
  const bad = steps.find(({ failures }) => failures.length > 0) ?? steps.at(-1);
  // The step in which the model failed is not finished.
  const step = run.reason === "model-failed" ? steps.length + 1 : bad?.record.step;
  const look = step === undefined ? [] : [`offstage prompt ${id} --step ${step}   what the model saw then`];
  if (run.status === "waiting") return [...look, "offstage inbox   what waits, and how to decide it"];
  return [...look, `offstage run ${id}   the whole run`];
}

function asJson({ record, calls, interrupted: cut }: ToldStep): object {
  const { step, finishReason, durationMs, verdicts = [], retries = [], messages } = record;
  const errors = calls.flatMap(({ toolCallId, toolName, status, resultText }) =>
    status === "error" ? [{ toolCallId, toolName, message: resultText ?? "" }] : [],
  );
  const interrupted = cut.map(({ toolCallId, toolName }) => ({ toolCallId, toolName }));
  const text = messages.flatMap((message) => (message.role === "assistant" ? textOf(message) : [])).join("\n");
  return { step, finishReason, durationMs, text, verdicts, retries, errors, interrupted };
}
