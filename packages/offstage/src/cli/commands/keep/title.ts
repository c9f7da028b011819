// offstage title: gives a session another title.
import { type Command, defineCommand } from "../../command.ts";
import { findSession } from "../../store/find.ts";

export const command: Command = defineCommand({
  options: {},
  examples: ['offstage title anna "The lost parcel"'],
  keys: ["sessionId", "title"],
  async run({ positionals: [wanted = "", ...words] }, io) {
    const store = await io.openStore({ writes: true });
    const { sessionId } = await findSession(store, wanted);
    const text = words.join(" ");
    await store.session(sessionId).describe({ title: text });
    if (io.isJson) io.record({ sessionId, title: text });
    else io.print(`${io.paint("cyan", io.inline(sessionId))}  ${io.inline(text)}`);
    return 0;
  },
});
