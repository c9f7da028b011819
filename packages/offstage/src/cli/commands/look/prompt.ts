// offstage prompt: exactly what the model saw in a step, or what changed since the step before.
import { isObject } from "../../../base/json.ts";
import type { InputChanges, RecordedInput } from "../../../doors/sessions.ts";
import { type Message, textOf, toolCallsOf } from "../../../messages/message.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io, Style } from "../../io.ts";
import { readCount } from "../../option-values.ts";
import { headingLine, textLines } from "../../output/blocks.ts";
import { columnsOf, fit } from "../../output/columns.ts";
import { counted } from "../../output/words.ts";
import { findRunId, NotFound } from "../../store/find.ts";

const bars: Readonly<Record<string, Style>> = { system: "magenta", user: "blue", assistant: "green", tool: "yellow" };

export const command: Command = defineCommand({
  options: {
    step: { type: "string", short: "s", value: "n", text: "the step, from 1; default the last" },
    diff: { type: "boolean", short: "d", text: "only what changed since the step before" },
  },
  examples: ["offstage prompt last", "offstage prompt 3f9a --step 3 --diff"],
  keys: ["runId", "step", "modelId", "provider", "messages", "tools", "settings", "isIncomplete", "changes"],
  notes: "Messages, tools and settings as they were sent: after memory, compaction and repair.",
  async run({ positionals: [wanted = "last"], values }, io) {
    const store = await io.openStore();
    const runId = await findRunId(store, wanted);
    const run = await store.runs.get(runId);
    const last = Math.max(run?.stepCount ?? 0, run?.openStep?.step ?? 0);
    // The step in which the model failed is not finished, and has an input.
    const next = values.step === undefined ? await store.runs.input(runId, last + 1) : undefined;
    const step = next === undefined ? (readCount(values.step, "step") ?? Math.max(1, last)) : last + 1;
    const input = next ?? (step < 1 ? undefined : await store.runs.input(runId, step));
    if (input === undefined)
      throw new NotFound(
        `The input of step ${step} of run "${runId}" is not on record; the run has ${counted(last, "step")}.`,
      );
    const before = step === 1 ? undefined : await store.runs.input(runId, step - 1);
    const changes = before && input.since(before);
    if (io.isJson) io.record(asJson({ runId, step, input, changes }));
    else for (const line of lines(io, { runId, step, input, changes, isDiff: values.diff === true })) io.print(line);
    return 0;
  },
});

interface Shown {
  readonly runId: string;
  readonly step: number;
  readonly input: RecordedInput;
  readonly changes: InputChanges | undefined;
}

function lines(io: Io, { step, input, changes, isDiff, runId }: Shown & { readonly isDiff: boolean }): string[] {
  const { modelId, provider, messages, tools, settings, isIncomplete = false } = input;
  const head = [
    io.paint("bold", fit(`step ${step} of run ${io.inline(runId)}`, io.width)),
    io.paint(
      "dim",
      fit(
        `${io.inline(modelId)} (${io.inline(provider)}), ${counted(messages.length, "message")}, ${counted(tools.length, "tool")}`,
        io.width,
      ),
    ),
    ...(isIncomplete ? [io.paint("yellow", "Some of it was removed, or only hashes were kept.")] : []),
  ];
  if (isDiff) return [...head, ...diffLines(io, changes)];
  return [
    ...head,
    ...messages.flatMap((message) => ["", ...messageLines(io, message)]),
    ...(tools.length === 0
      ? []
      : ["", headingLine(io, { bar: "cyan", title: "tools" }), ...tools.flatMap((tool) => toolLines(io, tool))]),
    ...(Object.keys(settings).length === 0
      ? []
      : ["", headingLine(io, { bar: "cyan", title: "settings" }), ...textLines(io, JSON.stringify(settings))]),
  ];
}

function diffLines(io: Io, changes: InputChanges | undefined): string[] {
  if (changes === undefined) return ["", "It is the first step: everything is new. Leave out --diff to see it."];
  const { added, removed, changed } = changes;
  const marked = (message: Message, mark: string, style: Style): string[] =>
    ["", ...messageLines({ ...io, width: io.width - 2 }, message)].map((line) =>
      line === "" ? "" : `${io.paint(style, mark)} ${line}`,
    );
  const lines = [
    ...removed.flatMap((message) => marked(message, "-", "red")),
    ...added.flatMap((message) => marked(message, "+", "green")),
    ...changed.flatMap((field) => ["", io.paint("yellow", `~ ${field} changed`)]),
  ];
  return lines.length === 0 ? ["", "Nothing changed since the step before."] : lines;
}

function messageLines(io: Io, message: Message): string[] {
  const { role } = message;
  const name =
    message.role === "tool" && message.name !== undefined ? `tool ${io.inline(message.name)}` : io.inline(role);
  const text = textOf(message);
  return [
    headingLine(io, {
      bar: bars[role] ?? "dim",
      title: name,
      note: message.role === "tool" ? io.inline(message.tool_call_id, 24).slice(0, 24) : "",
    }),
    ...(text === "" ? [] : textLines(io, text)),
    ...toolCallsOf(message).flatMap(({ id, function: { name: tool, arguments: input } }) => {
      const shown = fit(io.inline(tool), io.width - 4);
      const call = fit(io.inline(id), Math.min(24, io.width - columnsOf(shown) - 5));
      return [
        `  ${io.paint("yellow", "→")} ${io.paint("bold", shown)} ${io.paint("dim", call)}`.trimEnd(),
        ...textLines(io, input, "    "),
      ];
    }),
  ];
}

function toolLines(io: Io, tool: unknown): string[] {
  const { name, description } = isObject(tool) ? tool : { name: "", description: "" };
  const about = typeof description === "string" ? io.inline(description, io.width) : "";
  const shown = io.inline(String(name ?? ""));
  return [
    `  ${io.paint("yellow", fit(shown, io.width - 2))} ${io.paint("dim", fit(about, Math.max(0, io.width - shown.length - 4)))}`.trimEnd(),
  ];
}

function asJson({ runId, step, input, changes }: Shown): object {
  const { modelId, provider, messages, tools, settings, isIncomplete = false } = input;
  return { runId, step, modelId, provider, messages, tools, settings, isIncomplete, changes: changes ?? null };
}
