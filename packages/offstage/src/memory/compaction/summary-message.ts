// Summary messages: they replace messages that are no longer shown. They are user messages, because text of users and tools
// must not gain the authority of instructions.
import { user } from "../../messages/makers.ts";
import { type Message, textOf, type UserMessage } from "../../messages/message.ts";

/** Makes a message of a summary that covers this many messages. */
export function summaryMessage(text: string, covers: number): UserMessage {
  const content = `[Summary of ${covers} earlier messages, which are kept offstage]\n\n${text}`;
  return user(content, { metadata: { isSummary: true, covers } });
}

/** Makes a message that says how many messages are missing without a summary. */
export function gapMessage(covers: number): UserMessage {
  const content = `[${covers} earlier messages are kept offstage and not shown]`;
  return user(content, { metadata: { isSummary: true, isGap: true, covers } });
}

/** Adds to the summaries a message that says how many more messages are missing. Joins it with earlier ones of its kind. */
export function withGap(summary: readonly Message[], missing: number): readonly Message[] {
  if (missing === 0) return summary;
  const gaps = summary.filter((message) => message.metadata?.isGap === true);
  return [...summary.filter((message) => message.metadata?.isGap !== true), gapMessage(coveredBy(gaps) + missing)];
}

/** How many messages these summaries cover. */
export function coveredBy(summary: readonly Message[]): number {
  return summary.reduce((sum, { metadata }) => sum + (typeof metadata?.covers === "number" ? metadata.covers : 0), 0);
}

/** The text of the summaries, without their headings; undefined if there are none. */
export function textOfSummary(summary: readonly Message[]): string | undefined {
  const texts = summary.filter((message) => message.metadata?.isGap !== true).map(textOf);
  return texts.length === 0 ? undefined : texts.map((text) => text.slice(text.indexOf("\n\n") + 2)).join("\n\n");
}
