// Claims about reading across sessions: search, queries over what it finds, and numbers.
import assert from "node:assert/strict";
import type { GroupNumbers } from "../../sessions/records/search/numbers.ts";
import type { FoundMessage, SearchOptions } from "../../sessions/records/search/search.ts";
import type { Store } from "../../sessions/store.ts";
import { type StoreClaim, said, texts } from "./claim.ts";
import { recordRun } from "./recorded-run.ts";

const day = (n: number, hour = 0): string => `2026-01-0${n}T0${hour}:00:00.000Z`;

/** Three sessions with four runs, two of them of one session, and items without a run. */
async function fill(store: Store): Promise<void> {
  await recordRun(store, { session: "anna", runId: "a1", question: "Where is order 17?", tokens: 100, cost: 0.5 });
  const failing = { tool: "fetch_page", isError: true, result: "no such Page", status: "failed" as const };
  await recordRun(store, {
    session: "bert",
    runId: "b1",
    question: "refund 100%",
    agent: "guide",
    ...failing,
    at: day(2),
  });
  await recordRun(store, {
    session: "anna",
    runId: "a2",
    question: "And a REFUND?",
    model: "large",
    subagent: "helper",
    at: day(2, 3),
    durationMs: 300,
    cost: 0.25,
  });
  await store.session("cleo").addItems([said("no refund here"), { role: "assistant", content: "Grüße, ORDER_17" }]);
}

async function find(store: Store, options: SearchOptions = {}): Promise<FoundMessage[]> {
  const found: FoundMessage[] = [];
  for await (const each of store.search(options)) found.push(each);
  return found;
}

async function contents(store: Store, options: SearchOptions): Promise<unknown[]> {
  return texts((await find(store, options)).map(({ message }) => message));
}

const sum = (groups: readonly GroupNumbers[], field: "runs" | "failures" | "totalTokens" | "cost"): number =>
  Math.round(groups.reduce((total, group) => total + group[field], 0) * 1e6) / 1e6;

export const searchClaims: readonly StoreClaim[] = [
  {
    name: "search finds text of all sessions in any case, the session that was active last first",
    async claim(store) {
      await fill(store);
      assert.deepEqual(await contents(store, { text: "REFUND" }), [
        "no refund here",
        ...["answer to And a REFUND?", "found And a REFUND?", "please: And a REFUND?", "And a REFUND?"],
        ...["answer to refund 100%", "refund 100%"],
      ]);
      assert.deepEqual(await contents(store, { text: "grüsse" }), []);
      assert.deepEqual(await contents(store, { text: "GRÜSSE", session: "anna" }), []);
      assert.deepEqual(await contents(store, { text: "GRÜß" }), ["Grüße, ORDER_17"]);
      assert.deepEqual(await contents(store, { text: "order_17" }), ["Grüße, ORDER_17"]);
      assert.equal((await find(store)).length, 16);
    },
  },
  {
    name: "search finds text that a back end cannot store as it is",
    async claim(store) {
      const odd = ["a\0b", "high \ud800 end", "50% \\ 'x' \"y\"", "naïve"];
      await store.session("odd").addItems(odd.map(said));
      for (const [text, expected] of [
        ["A\0B", "a\0b"],
        ["\ud800", "high \ud800 end"],
        ["% \\ '", "50% \\ 'x' \"y\""],
        ["NAÏVE", "naïve"],
      ])
        assert.deepEqual(await contents(store, { text }), [expected]);
    },
  },
  {
    name: "search by pattern, role, tool, agent, failure, session, stream and time",
    async claim(store) {
      await fill(store);
      const count = async (options: SearchOptions) => (await find(store, options)).length;
      assert.deepEqual(await contents(store, { regex: /order.\d+$/i }), ["Grüße, ORDER_17"]);
      assert.deepEqual(await contents(store, { text: "^Where.*\\?$", regex: true }), ["Where is order 17?"]);
      assert.equal(await count({ role: "tool" }), 3);
      assert.equal(await count({ role: ["user", "tool"] }), 8);
      assert.equal(await count({ toolName: "fetch_page" }), 2);
      assert.equal(await count({ toolName: "look", role: "tool" }), 2);
      assert.equal(await count({ agent: "helper" }), 2);
      assert.deepEqual(await contents(store, { isError: true }), ["no such Page"]);
      assert.equal(await count({ isError: false }), 15);
      assert.equal(await count({ session: "bert" }), 4);
      assert.equal(await count({ session: "nobody" }), 0);
      assert.equal(await count({ session: "anna", stream: "said" }), 4);
      assert.equal(await count({ session: "anna", stream: "done" }), 6);
      assert.equal(await count({ since: day(2, 1), until: day(3) }), 6);
      assert.equal(await count({ since: new Date(day(1)), until: Date.parse(day(2)) }), 8);
      assert.equal(await count({ text: "refund", role: "user", since: day(2), until: day(2) }), 1);
      assert.throws(() => store.search({ regex: true }), { code: "invalid-argument" });
      assert.throws(() => store.search({ text: "(", regex: true }), { code: "invalid-argument" });
      assert.throws(() => store.search({ rol: "user" } as SearchOptions), { code: "invalid-argument" });
      assert.throws(() => store.search({ before: "yesterday" }), { code: "invalid-argument" });
    },
  },
  {
    name: "a hit says its session, its run and its stream",
    async claim(store) {
      await fill(store);
      await store.session("bert").describe({ title: "Bert's refund" });
      const [hit] = await find(store, { text: "no such page" });
      assert.equal(hit?.session.sessionId, "bert");
      assert.equal(hit?.session.title, "Bert's refund");
      assert.equal(hit?.stream, "done");
      assert.deepEqual([hit?.run?.runId, hit?.run?.agent, hit?.run?.status], ["b1", "guide", "failed"]);
      const [item] = await find(store, { text: "no refund here" });
      assert.deepEqual([item?.session.sessionId, item?.run, item?.stream], ["cleo", undefined, "said"]);
    },
  },
  {
    name: "the pages of a search are complete and in order, also if its session is written to meanwhile",
    async claim(store) {
      await fill(store);
      for (const options of [{}, { text: "refund" }, { session: "anna" }] as const) {
        const all = await find(store, options);
        for (const limit of [1, 3]) {
          const pages: FoundMessage[] = [];
          for (;;) {
            const page = await find(store, { ...options, limit, before: pages.at(-1)?.cursor });
            pages.push(...page);
            if (page.length < limit) break;
          }
          assert.deepEqual(pages, all);
        }
      }
      assert.deepEqual(await find(store, { limit: 0 }), []);
      const all = await contents(store, { session: "anna" });
      const first = await find(store, { session: "anna", limit: 2 });
      await store.session("anna").addItem(said("later"));
      assert.deepEqual(await contents(store, { session: "anna", before: first.at(-1)?.cursor }), all.slice(2));
      const everywhere = texts((await find(store, { before: first.at(-1)?.cursor })).map(({ message }) => message));
      assert.deepEqual(everywhere, [...all.slice(2), ...(await contents(store, { session: "bert" }))]);
    },
  },
  {
    name: "a query over a search has the messages oldest first, and their runs",
    async claim(store) {
      await fill(store);
      const query = await store.query({ toolName: "fetch_page" });
      assert.deepEqual(texts(query.all()), [null, "no such Page"]);
      assert.deepEqual(
        query.toolSummary().map(({ toolName, callCount, errorCount }) => [toolName, callCount, errorCount]),
        [["fetch_page", 1, 1]],
      );
      assert.deepEqual(
        query.runs().map(({ runId, status, error }) => [runId, status, error?.message]),
        [["b1", "failed", "the provider is down"]],
      );
      const everything = await store.query();
      assert.equal(everything.length, 16);
      assert.deepEqual(
        everything.runs().map(({ runId }) => runId),
        ["a1", "b1", "a2", "a2.child"],
      );
      assert.equal((await store.query({ where: [{ role: "user" }] })).length, 5);
    },
  },
  {
    name: "numbers by any dimensions add up to the whole",
    async claim(store) {
      await fill(store);
      const [whole] = await store.numbers();
      assert.deepEqual([whole?.runs, whole?.failures, whole?.totalTokens, whole?.cost], [4, 1, 275, 1.75]);
      const dimensions = ["day", "agent", "model", "session", "status"] as const;
      for (const by of [...dimensions, ["day", "agent"], ["agent", "model"], ["session", "status", "model"]] as const) {
        const groups = await store.numbers({ by });
        for (const field of ["runs", "failures", "totalTokens", "cost"] as const)
          assert.equal(sum(groups, field), whole?.[field], `${field} by ${by}`);
        for (const group of groups) for (const name of [by].flat()) assert.ok(group[name] !== undefined, `${name}`);
      }
      const byTool = await store.numbers({ by: "tool" });
      assert.deepEqual(
        byTool.map(({ tool, runs, calls, failures }) => [tool, runs, calls, failures]),
        [
          ["look", 2, 2, 0],
          ["fetch_page", 1, 1, 1],
        ],
      );
      assert.deepEqual(await store.namespace("other").numbers(), []);
      await assert.rejects(store.numbers({ by: "week" as "day" }), { code: "invalid-argument" });
    },
  },
  {
    name: "numbers select by time, have percentiles, and print as a table",
    async claim(store) {
      await fill(store);
      const [late] = await store.numbers({ since: day(2) });
      assert.equal(late?.runs, 3);
      const [early] = await store.numbers({ until: day(2) });
      assert.equal(early?.runs, 2);
      for (const n of [1, 2, 3, 4, 5]) {
        const at = day(3, n);
        await recordRun(store, { session: "dora", runId: `d${n}`, question: `${n}`, at, durationMs: n * 1_000 });
      }
      const [dora] = await store.numbers({ by: "session", since: day(3) });
      assert.deepEqual([dora?.session, dora?.p50Ms, dora?.p95Ms], ["dora", 3_000, 5_000]);
      const days = await store.numbers({ by: ["day", "agent"] });
      assert.equal(days[0]?.day, "2026-01-03");
      const [header, first] = `${days}`.split("\n");
      assert.match(header ?? "", /^day +agent +runs +failures +tokens +cost +p50 ms +p95 ms$/);
      assert.match(first ?? "", /^2026-01-03 +desk +5 +0 +/);
    },
  },
  {
    name: "numbers count the tokens and the status of a run that did not end",
    async claim(store) {
      const log = await recordRun(store, { session: "anna", runId: "a1", question: "on", tokens: 100, isOpen: true });
      const of = async (by: "status" | "model") => {
        const groups = await store.numbers({ by });
        return groups.map((group) => [group[by], group.runs, group.totalTokens]);
      };
      assert.deepEqual(await of("status"), [["running", 1, 110]]);
      await log.abandon();
      assert.deepEqual(await of("status"), [["interrupted", 1, 110]]);
      assert.deepEqual(await of("model"), [["small", 1, 110]]);
      assert.deepEqual((await store.numbers())[0]?.totalTokens, 110);
    },
  },
];
