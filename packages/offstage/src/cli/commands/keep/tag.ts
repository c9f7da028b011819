// offstage tag: adds tags to a session, or removes them. They are the list `tags` in its metadata.
import { UsageError } from "../../arguments.ts";
import { type Command, defineCommand } from "../../command.ts";
import { findSession } from "../../store/find.ts";
import { tagsOf } from "../look/sessions.ts";

export const command: Command = defineCommand({
  options: { remove: { type: "boolean", text: "remove the tags instead" } },
  examples: ["offstage tag anna refund urgent", "offstage tag anna urgent --remove", "offstage sessions --tag refund"],
  keys: ["sessionId", "tags"],
  notes: "Without tags, it shows those of the session.",
  async run({ positionals: [wanted = "", ...given], values: { remove = false } }, io) {
    if (given.some((each) => each.trim() === "")) throw new UsageError("A tag must not be empty.");
    const store = await io.openStore({ writes: given.length > 0 });
    const { sessionId, metadata } = await findSession(store, wanted);
    const before = tagsOf(metadata);
    const tags = remove ? before.filter((each) => !given.includes(each)) : [...new Set([...before, ...given])];
    if (given.length > 0) await store.session(sessionId).describe({ metadata: { ...metadata, tags } });
    if (io.isJson) io.record({ sessionId, tags });
    else
      io.print(
        `${io.paint("cyan", io.inline(sessionId))}  ${io.paint("yellow", io.inline(tags.join(" ")) || "(no tags)")}`,
      );
    return 0;
  },
});
