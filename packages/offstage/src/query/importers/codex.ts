// Rollouts of Codex: Responses items, each in an envelope with its time, among lines about the session and its events.
import { isObject } from "../../base/json.ts";
import type { Message } from "../../messages/message.ts";
import { type Fields, type Importer, partsOf, textFrom, withKnown } from "../import/importer.ts";
import { messagesFromItems } from "../import/responses-items.ts";

const envelopes = new Set(["session_meta", "response_item", "event_msg", "turn_context", "compacted"]);
// Texts that the program adds in the name of the user.
const added = /^\s*(<environment_context>|<user_instructions>|<permissions instructions>|# AGENTS\.md instructions)/;

export const codex: Importer = {
  name: "Codex rollouts",
  recognises({ type, payload }) {
    return typeof type === "string" && envelopes.has(type) && isObject(payload) ? "yes" : "no";
  },
  toMessages(items) {
    const kept = items.filter(({ type, payload }) => type === "response_item" && !isAdded(payload as Fields));
    const groups = turnsOf(kept);
    return groups.flatMap((group) => {
      const [first] = group;
      const messages = messagesFromItems(group.map(({ payload }) => asItem(payload as Fields)));
      return messages.map((message): Message => withKnown(message, { createdAt: first?.timestamp }));
    });
  },
};

// A call joins the message before it, so lines stay together from one message or result to the next.
function turnsOf(items: readonly Fields[]): Fields[][] {
  const groups: Fields[][] = [];
  for (const item of items) {
    const { type } = item.payload as Fields;
    const continues = typeof type === "string" && type.endsWith("_call") && groups.length > 0;
    if (continues) groups.at(-1)?.push(item);
    else groups.push([item]);
  }
  return groups;
}

function isAdded({ type, role, content }: Fields): boolean {
  if (type !== "message" || role !== "user") return false;
  return added.test(
    partsOf(content)
      .map(({ text }) => textFrom(text))
      .join(""),
  );
}

// A shell call is a call of the tool "shell".
function asItem(payload: Fields): Fields {
  if (payload.type !== "local_shell_call") return payload;
  const { call_id, id, action } = payload;
  return { type: "function_call", call_id: call_id ?? id, name: "shell", arguments: JSON.stringify(action ?? {}) };
}
