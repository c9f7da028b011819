// offstage stop: stops a run of any process. What was said so far is kept.
import { type Command, defineCommand } from "../../command.ts";
import { shortId } from "../../output/short-ids.ts";
import { findRunId, NotFound } from "../../store/find.ts";

export const command: Command = defineCommand({
  options: { reason: { type: "string", value: "text", text: "why, for the record" } },
  examples: ["offstage stop last", 'offstage stop 3f9a --reason "It loops."'],
  keys: ["runId", "stopped"],
  notes:
    "A run that works stops within some seconds, at its next step or sign of life; one that waits, or whose process died, at once. last is the latest run that is open.",
  async run({ positionals: [wanted = ""], values: { reason } }, io) {
    const store = await io.openStore({ writes: true });
    const isLast = wanted === "last";
    const [latest] = isLast ? await store.runs.list({ status: ["running", "waiting", "interrupted"], limit: 1 }) : [];
    if (isLast && latest === undefined) throw new NotFound("No run is open.");
    const runId = latest?.runId ?? (await findRunId(store, wanted));
    const isStopped = await store.runs.stop(runId, { reason });
    if (io.isJson) io.record({ runId, stopped: isStopped });
    else if (isStopped) io.print(`Run ${io.inline(shortId(runId))} is asked to stop.`);
    else io.note(`Run "${runId}" had ended before.`);
    return isStopped ? 0 : 1;
  },
});
