// Claims about values: every type, any text and large amounts come back as they were put.
import assert from "node:assert/strict";
import type { StoreDriver } from "../../sessions/ports/store-driver.ts";
import type { Claim } from "../contract-case.ts";
import { column, message, messages, put, rowsOf, session, timeAt, write } from "./claim-rows.ts";

const hostileTexts: readonly string[] = [
  "",
  " ",
  "  two blanks  ",
  "__proto__",
  "constructor",
  "'; DROP TABLE messages; --",
  '"quoted" \\ `back` $1 ? :name %s {0}',
  "a/b",
  "a.b",
  "a:b",
  "a%2Fb",
  "*",
  "[a-z]*",
  "{tag}",
  "null",
  "0",
  "-1",
  "1e3",
  "\t\r\n",
  "\u0001\u001f\u007f\u0080\u009f",
  "\u{1f600} \u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "e\u0301 and \u00e9",
  "\u202e\u2028\u2029\ufeff\ufffd\uffff",
  "İıßẞKÅ",
  "i".repeat(512),
  "\u{1f600}".repeat(128),
];

const jsonTexts: readonly string[] = [
  "null",
  "[]",
  "{}",
  '""',
  '{"b":1,"a":2,"1":3}',
  '{"a":[],"b":{},"c":[{}]}',
  '{ "blanks" :  [ 1 , 2 ] }',
  '{"n":1.0,"big":12345678901234567890,"e":1E+2,"z":-0}',
  '{"__proto__":{"a":1},"a":1,"a":2}',
  '"\\u0000 \\ud800 \\u00e9 \\/ \\n é \u{1f600}"',
];

export const valueClaims: readonly Claim<StoreDriver>[] = [
  {
    name: "values of every type come back as they were put",
    async claim(driver) {
      const integers = [0, 1, -1, 2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1, -(2 ** 53 - 1)];
      const reals = [0, 0.1, -2.5, 1 / 3, 1e-7, 1.5e300, 1767323045123.4568, 5e-324, 100];
      const puts = integers.flatMap((value, n) =>
        reals.map((real, at) =>
          put("runs", {
            namespace: "n",
            session_id: "s",
            number: n * 100 + at,
            run_id: `${n} ${at}`,
            input_tokens: value,
            output_tokens: null,
            cost_usd: real,
            duration_ms: at === 0 ? null : real,
            started_at: timeAt(n),
            ended_at: at % 2 === 0 ? null : timeAt(at * 1000),
          }),
        ),
      );
      await write(driver, ...puts);
      assert.deepEqual(await driver.read({ table: "runs", prefix: ["n", "s"] }), rowsOf(puts));
    },
  },
  {
    name: "booleans come back as booleans, and times with their milliseconds",
    async claim(driver) {
      const times = ["1970-01-01T00:00:00.000Z", "2026-02-28T23:59:59.999Z", "2026-03-29T01:30:00.010Z"];
      const puts = times.map((created_at, n) => message(n, { created_at, is_error: n % 2 === 0 }));
      await write(driver, ...puts);
      assert.deepEqual(await messages(driver), rowsOf(puts));
    },
  },
  {
    name: "JSON text comes back byte for byte",
    async claim(driver) {
      const puts = jsonTexts.map((json, n) => message(n, { parts: json, metadata: json }));
      await write(driver, ...puts);
      assert.deepEqual(await messages(driver), rowsOf(puts));
    },
  },
  {
    name: "any text is a value",
    async claim(driver) {
      const puts = hostileTexts.map((content, n) => message(n, { content, role: content, tool_name: content }));
      await write(driver, ...puts);
      assert.deepEqual(await messages(driver), rowsOf(puts));
      for (const [n, content] of hostileTexts.entries()) {
        const check = { table: "messages" as const, key: ["n", "s", n], where: { content, tool_name: content } };
        const { refused } = await driver.commit({ label: "session.add", checks: [check], writes: [] });
        assert.equal(refused, undefined, JSON.stringify(content));
      }
    },
  },
  {
    name: "any text is an id, and ids that differ in case or bytes are different ids",
    async claim(driver) {
      const ids = [...hostileTexts, "a", "A", "é", "e\u0301", "a b", "a  b", "\uffee"];
      const puts = ids.flatMap((id) => [
        session(id, { title: id }),
        message(1, { namespace: id, session_id: id, content: id, run_id: id }),
        put("contents", { namespace: "n", session_id: "s", hash: id, content: id }),
        put("runs", { namespace: "n", session_id: id, number: 1, run_id: id, agent: id }),
      ]);
      await write(driver, ...puts);
      for (const id of ids) {
        const [row, content] = await driver.get([
          { table: "sessions", key: ["n", id] },
          { table: "contents", key: ["n", "s", id] },
        ]);
        assert.deepEqual([row?.title, content?.content], [id, id]);
        const own = await driver.read({ table: "messages", order: "run", prefix: [id, id, id] });
        assert.deepEqual(column(own, "content"), [id]);
        assert.deepEqual(column(await driver.read({ table: "runs", order: "id", prefix: ["n", id] }), "agent"), [id]);
      }
      const bytes = (id: string) => Buffer.from(id);
      const sorted = [...ids].sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
      assert.deepEqual(column(await driver.read({ table: "contents", prefix: ["n", "s"] }), "hash"), sorted);
      await write(driver, ...ids.map((id) => ({ table: "sessions" as const, remove: ["n", id] })));
      assert.deepEqual(await driver.read({ table: "sessions", order: "activity", prefix: ["n"] }), []);
    },
  },
  {
    name: "a text of 1 MB comes back",
    async claim(driver) {
      const content = "0123456789é\u{1f600}".repeat(2 ** 16);
      await write(
        driver,
        message(1, { content }),
        put("contents", { namespace: "n", session_id: "s", hash: "h", content }),
      );
      const [row] = await driver.get([{ table: "contents", key: ["n", "s", "h"] }]);
      assert.ok(row?.content === content);
      assert.ok((await messages(driver))[0]?.content === content);
    },
  },
  {
    name: "2,000 puts, and their removal, are one commit each",
    async claim(driver) {
      const puts = Array.from({ length: 2_000 }, (_, n) => message(n, { position: 2_000 - n, run_id: `r${n % 3}` }));
      await write(driver, ...puts);
      assert.deepEqual(await messages(driver), rowsOf(puts));
      const said = await driver.read({ table: "messages", order: "said", prefix: ["n", "s"], limit: 2 });
      assert.deepEqual(column(said, "seq"), [1_999, 1_998]);
      const places = puts.map(({ row }) => ({ table: "messages" as const, key: ["n", "s", row.seq as number] }));
      assert.deepEqual(column(await driver.get(places), "seq"), column(rowsOf(puts), "seq"));
      await write(driver, ...places.slice(0, 1_000).map(({ table, key }) => ({ table, remove: key })));
      assert.equal((await messages(driver)).length, 1_000);
      await write(driver, { table: "messages", remove: ["n", "s"] });
      assert.deepEqual(await messages(driver), []);
    },
  },
];
