// Stats: the number of messages and tokens of a list, by role. One pass; the caller's counter counts tokens.
import { inertLine } from "../base/inert.ts";
import type { Message } from "../messages/message.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { addUsage, type Usage } from "../tokens/usage.ts";
import { metadataOf, roleOf } from "./readers.ts";
import { printing } from "./self-printing.ts";

export interface MessageStats {
  readonly totalMessages: number;
  readonly messagesByRole: Readonly<Record<string, number>>;
  readonly totalTokens: number;
  readonly tokensByRole: Readonly<Record<string, number>>;
  readonly avgTokensPerMessage: number;
  /** True if the token counts are estimates. `usage` never is. */
  readonly estimated: boolean;
  /** The sum of the usage that providers reported, if any did. It covers whole model calls, so it is more than the messages. */
  readonly usage?: Usage;
}

/** The stats of a list. Prints itself under `String()`. */
export function stats(list: readonly Message[], counter: TokenCounter): MessageStats {
  const roles = new Map<string, { messages: number; tokens: number }>();
  let totalTokens = 0;
  let usage: Usage | undefined;
  for (const message of list) {
    const tokens = tokensOf(message, counter);
    totalTokens += tokens;
    const role = roleOf(message);
    const sums = roles.get(role);
    if (sums === undefined) roles.set(role, { messages: 1, tokens });
    else {
      sums.messages++;
      sums.tokens += tokens;
    }
    const reported = metadataOf(message).usage;
    if (reported !== undefined) usage = sumOf(usage, reported);
  }
  const found: MessageStats = {
    totalMessages: list.length,
    messagesByRole: Object.fromEntries([...roles].map(([role, { messages }]) => [role, messages])),
    totalTokens,
    tokensByRole: Object.fromEntries([...roles].map(([role, { tokens }]) => [role, tokens])),
    avgTokensPerMessage: list.length === 0 ? 0 : totalTokens / list.length,
    estimated: counter.estimated === true,
    ...(usage === undefined ? undefined : { usage }),
  };
  return printing(found, () => renderStats(found));
}

/** The tokens of one message, or 0 if it is no message. */
export function tokensOf(message: Message, counter: TokenCounter): number {
  return typeof message === "object" && message !== null ? counter.countMessage(message) : 0;
}

/** The sum of two usages. Returns the first if the second is no usage. */
export function sumOf(usage: Usage | undefined, reported: unknown): Usage | undefined {
  const { inputTokens, outputTokens, totalTokens } = (reported ?? {}) as Partial<Usage>;
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return usage;
  const total = typeof totalTokens === "number" ? totalTokens : inputTokens + outputTokens;
  const complete = { ...(reported as Usage), totalTokens: total };
  return usage === undefined ? complete : addUsage(usage, complete);
}

/** Renders stats as text: totals, then one line for each role. */
export function renderStats(stats: MessageStats): string {
  const mark = stats.estimated ? " (estimated)" : "";
  const roles = Object.keys(stats.messagesByRole).sort();
  return [
    "Message statistics",
    `  Total messages: ${stats.totalMessages}`,
    `  Total tokens: ${stats.totalTokens}${mark}`,
    `  Average tokens per message: ${stats.avgTokensPerMessage.toFixed(1)}`,
    ...(roles.length === 0 ? [] : ["  By role:"]),
    ...roles.map(
      (role) => `    ${inertLine(role)}: ${countOf(stats.messagesByRole[role])}, ${stats.tokensByRole[role]} tokens`,
    ),
    ...(stats.usage === undefined ? [] : [`  Reported by providers: ${usageLine(stats.usage)}`]),
  ].join("\n");
}

function countOf(count = 0): string {
  return count === 1 ? "1 message" : `${count} messages`;
}

/** A usage on one line. */
export function usageLine({ inputTokens, outputTokens, totalTokens }: Usage): string {
  return `${inputTokens} in, ${outputTokens} out, ${totalTokens} tokens`;
}
