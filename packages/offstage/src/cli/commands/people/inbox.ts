// offstage inbox: everything that waits for a person, over all sessions, and what to type to decide it.
import type { ListedRun } from "../../../doors/sessions.ts";
import type { Approval } from "../../../index.ts";
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
  keys: ["runId", "sessionId", "title", "agent", "waitingSince", "kind", "toolCallId", "toolName", "input"],
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
  const words = `${io.inline(nameOf(run.runId))} ${quotedId(call)} --agent ./agent.ts`;
  return [
    headingLine(io, { bar: "magenta", title: io.inline(toolName), note: ago(run.endedAt ?? run.startedAt) }),
    io.paint("dim", fit(`  ${io.inline(approval.agent)} · ${io.inline(title ?? run.sessionId)}`, io.width)),
    ...textLines(io, JSON.stringify(input), "  "),
    io.paint("cyan", fit(`  offstage approve ${words}`, io.width)),
    io.paint("cyan", fit(`  offstage reject ${words}`, io.width)),
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
  };
}
