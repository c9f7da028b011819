// Summary messages: what stands for messages that are no longer shown. From the user's side, since their words come from there:
// text of users and tools must not gain the weight of instructions.
import { user } from "../../messages/makers.ts";
import { type Message, textOf, type UserMessage } from "../../messages/message.ts";

/** A summary as a message; `covers` is how many messages it stands for. */
export function summaryMessage(text: string, covers: number): UserMessage {
  const content = `[Summary of ${covers} earlier messages, which are kept offstage]\n\n${text}`;
  return user(content, { metadata: { isSummary: true, covers } });
}

/** A mark that messages are missing, which nobody has summarised. */
export function gapMessage(covers: number): UserMessage {
  const content = `[${covers} earlier messages are kept offstage and not shown]`;
  return user(content, { metadata: { isSummary: true, isGap: true, covers } });
}

/** The summaries with a mark that so many more messages are missing behind what they cover. */
export function withGap(summary: readonly Message[], missing: number): readonly Message[] {
  if (missing === 0) return summary;
  const gaps = summary.filter((message) => message.metadata?.isGap === true);
  return [...summary.filter((message) => message.metadata?.isGap !== true), gapMessage(coveredBy(gaps) + missing)];
}

/** How many messages these summaries stand for. */
export function coveredBy(summary: readonly Message[]): number {
  return summary.reduce((sum, { metadata }) => sum + (typeof metadata?.covers === "number" ? metadata.covers : 0), 0);
}

/** The words of the summaries, without their headings; undefined where there are none. */
export function textOfSummary(summary: readonly Message[]): string | undefined {
  const told = summary.filter((message) => message.metadata?.isGap !== true).map(textOf);
  return told.length === 0 ? undefined : told.map((text) => text.slice(text.indexOf("\n\n") + 2)).join("\n\n");
}
