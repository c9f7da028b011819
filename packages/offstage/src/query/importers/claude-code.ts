// Session logs of Claude Code: a line for each block of a message, with lines about other things between them.
import { isObject } from "../../base/json.ts";
import type { Message } from "../../messages/message.ts";
import { messagesFromBlocks } from "../import/anthropic-blocks.ts";
import { type Fields, type Importer, partsOf, withKnown } from "../import/importer.ts";

// Lines that are no messages.
const otherLines = new Set([
  ...["summary", "system", "progress", "queue-operation", "file-history-snapshot", "custom-title", "attachment"],
]);

export const claudeCode: Importer = {
  name: "Claude Code session logs",
  recognises({ type, message, uuid, sessionId, leafUuid, messageId }) {
    if ((type === "user" || type === "assistant") && isObject(message) && "role" in message)
      return typeof uuid === "string" && typeof sessionId === "string" ? "yes" : "no";
    const isOther = typeof type === "string" && otherLines.has(type);
    return isOther && [uuid, sessionId, leafUuid, messageId].some((id) => typeof id === "string") ? "maybe" : "no";
  },
  toMessages(items) {
    const lines = items.filter(({ message, isMeta }) => isObject(message) && isMeta !== true);
    const own = lines.filter(({ isSidechain }) => isSidechain !== true);
    // The log of a subagent has nothing else.
    return joined(own.length === 0 ? lines : own).flatMap(toMessages);
  },
};

// A reply is written as several lines with one id, a block each.
function joined(lines: readonly Fields[]): Fields[] {
  const all: Fields[] = [];
  for (const line of lines) {
    const last = all.at(-1);
    const [before, now] = [last?.message, line.message] as [Fields | undefined, Fields];
    if (last === undefined || before?.id === undefined || before.id !== now.id) all.push(line);
    else {
      const content = [...partsOf(before.content), ...partsOf(now.content)];
      all[all.length - 1] = { ...last, message: { ...before, ...now, content } };
    }
  }
  return all;
}

function toMessages({ message, uuid, timestamp }: Fields): Message[] {
  const { id: _, ...plain } = message as Fields;
  return messagesFromBlocks(plain).map((each, index) =>
    withKnown(each, { id: index === 0 ? uuid : undefined, createdAt: timestamp }),
  );
}
