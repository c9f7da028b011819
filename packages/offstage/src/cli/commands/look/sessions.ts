// offstage sessions: conversations, the latest first, with what they cost and what needs attention.
import type { RunInfo, RunStatus, SessionInfo } from "../../../doors/sessions.ts";
import type { Store } from "../../../sessions/store.ts";
import { type Command, defineCommand } from "../../command.ts";
import { limitOption, readCount, readTime, runStatusOption, sinceOption, untilOption } from "../../option-values.ts";
import { shortIds } from "../../output/short-ids.ts";
import { type Column, tableLines } from "../../output/table.ts";
import { ago, counted, dollars, markOf, short, styleOf } from "../../output/words.ts";

const usualLimit = 30;

interface Listed extends SessionInfo {
  readonly tokens: number;
  readonly cost: number | undefined;
  readonly badges: readonly RunStatus[];
}

export const command: Command = defineCommand({
  options: {
    status: { ...runStatusOption, text: "only with a run of this status" },
    agent: { type: "string", value: "name", text: "only with a run of this agent", multiple: true },
    tag: { type: "string", value: "tag", text: "only with this tag" },
    since: sinceOption,
    until: untilOption,
    limit: { ...limitOption, text: `at most this many; default ${usualLimit}` },
    all: { type: "boolean", text: "all of them" },
  },
  examples: ["offstage sessions", "offstage sessions refund --since 2d", "offstage sessions --status failed --json"],
  keys: [
    ...["sessionId", "title", "metadata", "messageCount", "runCount", "lastAgent", "lastStatus", "badges"],
    ...["tokens", "cost", "branchedFrom", "createdAt", "lastActivityAt"],
  ],
  async run({ positionals: [text], values }, io) {
    const { status, agent, tag, since, until, all = false } = values;
    const limit = all ? undefined : (readCount(values.limit, "limit") ?? usualLimit);
    const store = await io.openStore();
    const filters = {
      ...(text !== undefined && { text }),
      ...(agent !== undefined && { agent }),
      ...(status !== undefined && { status: status as RunStatus[] }),
      ...{ since: readTime(since, "since"), until: readTime(until, "until") },
    };
    // One more than is shown tells whether there are more. Tags are in the metadata, which only equality can filter.
    const most = limit === undefined || tag !== undefined ? undefined : limit + 1;
    const found = await store.sessions.list({ ...filters, limit: most });
    const tagged = tag === undefined ? found : found.filter(({ metadata }) => tagsOf(metadata).includes(tag));
    const shown = await withTotals(store, tagged.slice(0, limit));
    if (shown.length === 0) {
      io.note(text === undefined ? "No sessions." : `No sessions with "${text}".`);
      return 1;
    }
    if (io.isJson) for (const session of shown) io.record(asJson(session));
    else {
      const nameOf = shortIds(shown.map(({ sessionId }) => sessionId));
      for (const line of tableLines(shown, columnsFor(io.inline, nameOf), io)) io.print(line);
      if (tagged.length > shown.length)
        io.note(`There are more than ${counted(shown.length, "session")}. --limit or --all shows them.`);
    }
    return 0;
  },
});

/** The tags in the metadata of a session. */
export function tagsOf(metadata: SessionInfo["metadata"]): string[] {
  const tags: unknown = metadata?.tags;
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
}

// Few sessions are asked one by one, by their index. Many are asked all at once.
const fewSessions = 100;

async function withTotals(store: Store, found: readonly SessionInfo[]): Promise<Listed[]> {
  if (found.length <= fewSessions)
    return Promise.all(
      found.map(async (session) => {
        const runs = session.runCount === 0 ? [] : await store.runs.list({ sessionId: session.sessionId });
        return { ...session, ...totalsOf(runs), badges: badgesOf(session, runs) };
      }),
    );
  const numbers = new Map((await store.numbers({ by: "session" })).map((group) => [group.session, group]));
  const open = Map.groupBy(await store.runs.list({ status: [...openStatuses] }), ({ sessionId }) => sessionId);
  return found.map((session) => {
    const { totalTokens = 0, cost = 0 } = numbers.get(session.sessionId) ?? {};
    // A sum of 0 means that no model has a known price.
    return {
      ...session,
      tokens: totalTokens,
      cost: cost || undefined,
      badges: badgesOf(session, open.get(session.sessionId) ?? []),
    };
  });
}

const openStatuses = ["running", "waiting", "interrupted"] as const;

/** The tokens of runs, and their cost; undefined if none of them has a known cost. */
export function totalsOf(runs: readonly RunInfo[]): { readonly tokens: number; readonly cost: number | undefined } {
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  return {
    tokens: runs.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0),
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
  };
}

// The badges of a session: its open runs, and the end of the latest run if it did not go well.
function badgesOf({ lastStatus }: SessionInfo, runs: readonly RunInfo[]): RunStatus[] {
  const open = openStatuses.filter((status) => runs.some((run) => run.status === status));
  const isBad = lastStatus === "failed" || lastStatus === "stopped";
  return isBad ? [...open, lastStatus] : open;
}

function columnsFor(inline: (text: string) => string, nameOf: (id: string) => string): Column<Listed>[] {
  return [
    {
      name: "",
      text: ({ badges, lastStatus }) => markOf(badges[0] ?? lastStatus),
      style: ({ badges, lastStatus }) => styleOf(badges[0] ?? lastStatus),
    },
    {
      name: "session",
      text: ({ sessionId }) => inline(nameOf(sessionId)),
      style: () => "cyan",
      shrinksTo: 8,
      most: 36,
    },
    { name: "title", text: ({ title }) => inline(title ?? ""), shrinksTo: 28 },
    { name: "active", text: ({ lastActivityAt }) => ago(lastActivityAt), style: () => "dim", rank: 1 },
    { name: "agent", text: ({ lastAgent }) => inline(lastAgent ?? ""), style: () => "dim", rank: 7, most: 20 },
    { name: "msgs", text: ({ messageCount }) => short(messageCount), align: "right", rank: 4 },
    { name: "runs", text: ({ runCount }) => short(runCount), align: "right", rank: 6 },
    { name: "tokens", text: ({ tokens }) => (tokens === 0 ? "" : short(tokens)), align: "right", rank: 3 },
    { name: "cost", text: ({ cost }) => dollars(cost), align: "right", rank: 5 },
    {
      name: "tags",
      text: ({ metadata }) => inline(tagsOf(metadata).join(" ")),
      style: () => "yellow",
      rank: 8,
      most: 24,
    },
    {
      name: "state",
      text: ({ badges }) => badges.join(" "),
      style: ({ badges }) => styleOf(badges[0]),
      rank: 2,
    },
  ];
}

function asJson(session: Listed): object {
  const { sessionId, title, metadata, messageCount, runCount, lastAgent, lastStatus, badges } = session;
  return {
    ...{ sessionId, title: title ?? null, metadata: metadata ?? null, messageCount, runCount },
    ...{ lastAgent: lastAgent ?? null, lastStatus: lastStatus ?? null, badges },
    ...{ tokens: session.tokens, cost: session.cost ?? null, branchedFrom: session.branchedFrom ?? null },
    ...{ createdAt: session.createdAt, lastActivityAt: session.lastActivityAt },
  };
}
