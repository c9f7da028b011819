// offstage inbox: everything that waits for a person, over all sessions, and what to type to decide it.
import type { ListedRun } from "../../../doors/sessions.ts";
import type { Approval } from "../../../index.ts";
import { answerHint } from "../../agents/answers.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Io } from "../../io.ts";
import { headingLine, textLines } from "../../output/blocks.ts";
import { fit } from "../../output/columns.ts";
import { shortIds } from "../../output/short-ids.ts";
import { ago } from "../../output/words.ts";

interface Waiting {
  readonly run: ListedRun;
  readonly title: string | undefined;
  readonly approval: Approval;
}

export const command: Command = defineCommand({
  options: {},
  examples: ["offstage inbox", "offstage inbox --json"],
  keys: [
    "runId",
    "sessionId",
    "title",
    "agent",
    "waitingSince",
    "kind",
    "toolCallId",
    "toolName",
    "input",
    "question",
    "schema",
  ],
  async run(_args, io) {
    const store = await io.openStore();
    const runs = await store.runs.list({ status: "waiting" });
    const waiting: Waiting[] = [];
    for (const run of runs) {
      const [found, session] = [await store.runs.get(run.runId), await store.sessions.get(run.sessionId)];
      for (const approval of found?.approvals ?? []) waiting.push({ run, title: session?.title, approval });
    }
    if (waiting.length === 0) {
      io.note("Nothing waits for a person.");
      return 1;
    }
    const nameOf = shortIds(runs.map(({ runId }) => runId));
    for (const each of waiting) {
      if (io.isJson) io.record(asJson(each));
      else for (const line of lines(io, each, nameOf)) io.print(line);
    }
    return 0;
  },
});

function lines(io: Io, { run, title, approval }: Waiting, nameOf: (id: string) => string): string[] {
  const { toolName, input, toolCallId } = approval;
  const call = fit(io.inline(shortIds([toolCallId])(toolCallId)), 24);
  const isQuestion = approval.kind === "question";
  const about = isQuestion ? [approval.message, answerHint(approval.schema)] : [JSON.stringify(input)];
  const given = `${io.inline(nameOf(run.runId))} ${quotedId(call)}`;
  const commands = isQuestion
    ? [`offstage answer ${given} … --agent ./agent.ts`]
    : [`offstage approve ${given} --agent ./agent.ts`, `offstage reject ${given} --agent ./agent.ts`];
  return [
    headingLine(io, { bar: "magenta", title: io.inline(toolName), note: ago(run.endedAt ?? run.startedAt) }),
    io.paint("dim", fit(`  ${io.inline(approval.agent)} · ${io.inline(title ?? run.sessionId)}`, io.width)),
    ...about.filter((text) => text !== "").flatMap((text) => textLines(io, text, "  ")),
    ...commands.map((line) => io.paint("cyan", fit(`  ${line}`, io.width))),
    "",
  ];
}

function quotedId(id: string): string {
  return /^[\w.:-]+$/.test(id) ? id : `'${id.replaceAll("'", "'\\''")}'`;
}

function asJson({ run, title, approval }: Waiting): object {
  const { kind, toolCallId, toolName, input, agent } = approval;
  return {
    ...{
      runId: run.runId,
      sessionId: run.sessionId,
      title: title ?? null,
      agent,
      waitingSince: run.endedAt ?? run.startedAt,
    },
    ...{ kind, toolCallId, toolName, input },
    question: approval.kind === "question" ? approval.message : null,
    schema: approval.kind === "question" ? (approval.schema ?? null) : null,
  };
}
