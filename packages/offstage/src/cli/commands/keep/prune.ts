// offstage prune: removes old sessions with everything that belongs to them. Says what it would remove, and wants --yes.
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";
import { confirm, yesOption } from "../../confirm.ts";
import { readCount } from "../../option-values.ts";
import { ageOf, ago, counted } from "../../output/words.ts";

export const command: Command = defineCommand({
  options: {
    "older-than": { type: "string", value: "age", text: "sessions that were not active for so long: 30d, 12h" },
    "keep-last": { type: "string", value: "n", text: "keep the n latest sessions, whatever their age" },
    yes: yesOption,
  },
  examples: ["offstage prune --older-than 30d", "offstage prune --older-than 30d --keep-last 100 --yes"],
  keys: ["wouldRemove", "removedSessions", "busySessions"],
  async run({ values }, io) {
    const text = values["older-than"];
    const olderThan = text === undefined ? undefined : ageOf(text);
    if (text !== undefined && olderThan === undefined)
      throw new UsageError(`--older-than takes an age such as 30d or 12h; found "${text}".`);
    const keepLast = readCount(values["keep-last"], "keep-last");
    if (olderThan === undefined && keepLast === undefined)
      throw new UsageError("offstage prune needs --older-than, --keep-last or both.");
    const until = olderThan === undefined ? Number.POSITIVE_INFINITY : Date.now() - olderThan;
    const reading = await io.openStore();
    const all = await reading.sessions.list();
    const old = all.slice(keepLast ?? 0).filter(({ lastActivityAt }) => Date.parse(lastActivityAt) < until);
    if (old.length === 0) {
      if (io.isJson) io.record({ wouldRemove: 0, removedSessions: 0, busySessions: 0 });
      else io.note("No session is that old.");
      return 1;
    }
    const messages = old.reduce((sum, { messageCount }) => sum + messageCount, 0);
    const newest = old[0]?.lastActivityAt;
    io.note(
      `${counted(old.length, "session")} of ${all.length}, with ${counted(messages, "message")} and all their runs; the latest was active ${ago(newest)}.`,
    );
    if (!(await confirm(io, `Remove ${counted(old.length, "session")} for good?`, values.yes))) {
      if (io.isJson) io.record({ wouldRemove: old.length, removedSessions: 0, busySessions: 0 });
      return 0;
    }
    const store = await io.openStore({ writes: true });
    io.progress(`Removing ${counted(old.length, "session")} …`);
    const report = await store.prune({ olderThan, keepLast });
    if (io.isJson) io.record({ wouldRemove: old.length, ...report });
    else {
      const busy = report.busySessions === 0 ? "" : `; ${counted(report.busySessions, "session")} in use stayed`;
      io.print(`Removed ${counted(report.removedSessions, "session")}${busy}.`);
    }
    return 0;
  },
});
