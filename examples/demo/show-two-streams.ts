// Prints the two streams side by side: what was said, and what was done to say it. Both are read from the store.
import { MessageQuery, type PersistentSession, type Store } from "offstage";
import { heading, line, paint, width, wrap } from "./terminal.ts";

const left = Math.floor((width - 3) * 0.46);
const right = width - 3 - left;

export async function showTwoStreams(store: Store, session: PersistentSession): Promise<void> {
  heading("What was said, and what was done to say it");
  console.log(row(paint("bold", "said".padEnd(left)), paint("bold", "done, offstage")));
  for (const turn of new MessageQuery(await session.transcript()).timeline()) {
    const said = [
      ...wrap(turn.userContent ?? "", left).map((text) => paint("blue", text.padEnd(left))),
      "".padEnd(left),
      ...(await answerOf(session, turn.runId)).map((text) => text.padEnd(left)),
    ];
    const done = turn.runId === undefined ? [] : await doneIn(store, turn.runId);
    console.log(paint("dim", `${"─".repeat(left + 1)}┼${"─".repeat(right + 1)}`));
    for (let index = 0; index < Math.max(said.length, done.length); index++)
      console.log(row(said[index] ?? "".padEnd(left), done[index] ?? ""));
  }
}

function row(said: string, done: string): string {
  return `${said} ${paint("dim", "│")} ${done}`.trimEnd();
}

async function answerOf(session: PersistentSession, runId: string | undefined): Promise<string[]> {
  const answers = (await session.getItems()).filter(
    ({ role, metadata }) => role === "assistant" && metadata?.runId === runId,
  );
  return answers.flatMap(({ content }) => wrap(String(content), left));
}

/** The calls of a run; those of a subagent are indented below its call. */
async function doneIn(store: Store, runId: string, indent = ""): Promise<string[]> {
  const run = await store.runs.get(runId);
  const calls = new MessageQuery(run?.steps.flatMap(({ messages }) => messages) ?? [])
    .timeline()
    .flatMap((turn) => turn.toolInteractions);
  const lines: string[] = [];
  for (const { toolCallId, toolName, inputText, resultText, isError } of calls) {
    lines.push(
      `${indent}${paint("yellow", toolName)} ${paint("dim", line(inputText ?? "", right - indent.length - toolName.length - 1))}`,
    );
    const child = run?.children.find(({ parentToolCallId }) => parentToolCallId === toolCallId);
    if (child !== undefined) lines.push(...(await doneIn(store, child.runId, `${indent}    `)));
    const mark = isError ? paint("red", "✗") : paint("green", "✓");
    lines.push(`${indent}  ${mark} ${line(resultText ?? "", right - indent.length - 4)}`);
  }
  return lines;
}
