// offstage annotate: feedback on a run, or on one of its messages.
import { parseJson } from "../../../base/json.ts";
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";
import { shortId } from "../../output/short-ids.ts";
import { findRunId } from "../../store/find.ts";

export const command: Command = defineCommand({
  options: {
    label: { type: "string", value: "word", text: "what kind of feedback it is: bad, good, score" },
    note: { type: "string", value: "text", text: "a sentence" },
    value: { type: "string", value: "json", text: "a value: a number, or any JSON" },
    message: { type: "string", value: "id", text: "the message it is about" },
    by: { type: "string", value: "name", text: "who gives it" },
  },
  examples: ['offstage annotate last --label bad --note "It should have asked."'],
  keys: ["sessionId", "runId", "messageId", "label", "value", "note", "by", "createdAt"],
  async run({ positionals: [wanted = ""], values: { label, note, value, message, by } }, io) {
    if (label === undefined) throw new UsageError("offstage annotate needs --label, such as --label bad.");
    const parsed = value === undefined ? undefined : parseJson(value);
    if (value !== undefined && parsed === undefined)
      throw new UsageError(`--value takes JSON, such as 0.5 or '"a text"'; found "${value}".`);
    const store = await io.openStore({ writes: true });
    const runId = await findRunId(store, wanted);
    const kept = await store.annotate({ runId, label, note, by, messageId: message, value: parsed });
    if (io.isJson) {
      const { sessionId, messageId = null, createdAt } = kept;
      io.record({
        sessionId,
        runId,
        messageId,
        label,
        value: kept.value ?? null,
        note: note ?? null,
        by: by ?? null,
        createdAt,
      });
    } else
      io.print(
        `${io.paint("cyan", io.inline(shortId(runId)))}  ${io.paint("yellow", io.inline(label))}  ${io.inline(note ?? "")}`.trimEnd(),
      );
    return 0;
  },
});
