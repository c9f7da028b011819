// offstage run: one run, with its steps, its tools and how it ended.

import type { StepRecord } from "../../../doors/sessions.ts";
import { textOf } from "../../../messages/message.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io } from "../../io.ts";
import { dotted, factLines, headingLine, textLines } from "../../output/blocks.ts";
import { callLines } from "../../output/calls.ts";
import { fit } from "../../output/columns.ts";
import { shortIds } from "../../output/short-ids.ts";
import { ago, clock, counted, dollars, duration, markOf, styleOf, whole } from "../../output/words.ts";
import { callsOf, type RunDetail, runDetail } from "../../store/run-detail.ts";
import { runJson, runKeys } from "./runs.ts";

export const command: Command = defineCommand({
  options: { full: { type: "boolean", text: "texts as they are, instead of their first lines" } },
  examples: ["offstage run last", "offstage run 3f9a --full"],
  keys: [...runKeys, "input", "steps", "approvals", "children"],
  async run({ positionals: [wanted = "last"], values: { full = false } }, io) {
    const detail = await runDetail(await io.openStore(), wanted);
    if (io.isJson) io.record(asJson(detail));
    else for (const line of lines(io, detail, full)) io.print(line);
    return 0;
  },
});

const shownLines = 8;

function lines(io: Io, detail: RunDetail, isFull: boolean): string[] {
  const { run: found } = detail;
  const cut = (all: string[]): string[] =>
    isFull || all.length <= shownLines
      ? all
      : [
          ...all.slice(0, shownLines - 1),
          io.paint("dim", `  … ${counted(all.length - shownLines + 1, "more line")}: --full`),
        ];
  const asked = found.input.map((message) => textOf(message)).join("\n");
  const open = found.openStep === undefined ? [] : [found.openStep];
  return [
    ...runHeader(io, detail),
    "",
    headingLine(io, { bar: "blue", title: "asked" }),
    ...cut(textLines(io, asked)),
    ...found.steps.flatMap((step) => ["", ...stepLines(io, step, detail, cut)]),
    ...open.flatMap(({ step, message, results }) => [
      "",
      headingLine(io, { bar: "magenta", title: `step ${step}`, note: found.status }),
      ...callsOf([message, ...results], detail).flatMap((call) => callLines(io, call)),
    ]),
    ...(found.children.length === 0 ? [] : ["", ...childLines(io, detail)]),
  ];
}

/** The first lines about a run: who, how it ended, when, what it took. */
export function runHeader(io: Io, { run: found, session, annotations }: RunDetail): string[] {
  const { status, reason, stopReason, agent, model, provider, usage, error } = found;
  const style = styleOf(status) ?? "dim";
  const ending = reason === undefined || reason === "answered" ? status : `${status}: ${stopReason ?? reason}`;
  const source = model === undefined ? "" : provider === undefined ? model : `${model} (${provider})`;
  const tokens = usage && `${whole(usage.inputTokens)} in, ${whole(usage.outputTokens)} out`;
  const age = ago(found.startedAt);
  const begun = [
    clock(found.startedAt),
    // An old run shows its day instead of its age.
    ...(age.includes("ago") || age === "just now" ? [age] : []),
    ...(found.durationMs === undefined ? [] : [`took ${duration(found.durationMs)}`]),
  ];
  const feedback = annotations.map(({ label, note, by }) =>
    [label, note && `“${note}”`, by && `(${by})`].filter(Boolean).join(" "),
  );
  return [
    io.paint(style, fit(`${markOf(status)} ${io.inline(ending)}`, io.width)),
    ...factLines(io, [
      ["run", io.inline(found.runId)],
      ["agent", io.inline(agent)],
      ["model", io.inline(source)],
      ["session", io.inline(session?.title === undefined ? found.sessionId : `${found.sessionId}  ${session.title}`)],
      ["begun", begun.join(", ")],
      ["tokens", [tokens, dollars(found.cost)].filter(Boolean).join(", ")],
      ["trace", io.inline(found.traceId ?? "")],
      ["called by", io.inline(found.parentRunId === undefined ? "" : `run ${found.parentRunId}`)],
      ["error", error === undefined ? "" : `${io.inline(error.code)}: ${io.inline(error.message, 2000)}`],
      ["feedback", io.inline(feedback.join("; "))],
    ]),
    ...(found.isIncomplete === true
      ? ["", io.paint("yellow", "  Some of its messages were removed, or cannot be read.")]
      : []),
  ];
}

function stepLines(io: Io, step: StepRecord, detail: RunDetail, cut: (all: string[]) => string[]): string[] {
  const { inputTokens, outputTokens } = step.usage;
  const note = `${whole(inputTokens)} → ${whole(outputTokens)} tokens   ${duration(step.durationMs)}`;
  const said = step.messages.flatMap((message) => (message.role === "assistant" ? textOf(message) : []));
  const calls = callsOf(step.messages, detail);
  const retries = step.retries ?? [];
  return [
    headingLine(io, { bar: calls.length === 0 ? "green" : "yellow", title: `step ${step.step}`, note }),
    ...(retries.length === 0 ? [] : [dotted(io, [counted(retries.length, "retry", "retries")])]),
    ...said.filter((text) => text !== "").flatMap((text) => cut(textLines(io, text))),
    ...calls.flatMap((call) => callLines(io, call)),
  ];
}

function childLines(io: Io, { run: { children } }: RunDetail): string[] {
  const nameOf = shortIds(children.map(({ runId }) => runId));
  return [
    headingLine(io, { bar: "cyan", title: "subagents" }),
    ...children.map(({ runId, agent, status, durationMs }) => {
      const mark = io.paint(styleOf(status) ?? "dim", markOf(status));
      return `    ${mark} ${fit(io.inline(agent), 20)}  ${io.paint("cyan", io.inline(nameOf(runId)))}  ${io.paint("dim", duration(durationMs))}`;
    }),
  ];
}

function asJson({ run: found, annotations, spans }: RunDetail): object {
  const steps = found.steps.map((step) => ({
    ...{ step: step.step, model: step.model ?? null, provider: step.provider ?? null, finishReason: step.finishReason },
    ...{ usage: step.usage, cost: step.cost ?? null, startedAt: step.startedAt, durationMs: step.durationMs },
    ...{ verdicts: step.verdicts ?? [], retries: step.retries ?? [], messages: step.messages },
    calls: callsOf(step.messages, { run: found, spans }).map(
      ({ toolCallId, toolName, status, durationMs, childRunId }) => ({
        ...{ toolCallId, toolName, status, durationMs: durationMs ?? null, childRunId: childRunId ?? null },
      }),
    ),
  }));
  return {
    ...runJson({ ...found, annotations }),
    ...{ input: found.input, steps, approvals: found.approvals },
    children: found.children.map((child) => ({ runId: child.runId, agent: child.agent, status: child.status })),
  };
}
