// Lesson 40: the same agent on several machines. Start this as often as you like with DATABASE_URL set, and kill any of it.
// With the argument "submit" it puts ten runs into the queue and waits; without, it is a worker.
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, postgresStore, tool } from "offstage";
import { dbosEngine } from "offstage/dbos";
import { scriptedModel } from "offstage/testing";

const { DATABASE_URL: url } = process.env;

if (!url) {
  console.log(`Set DATABASE_URL to a Postgres database, and install the engine: npm install @dbos-inc/dbos-sdk pg

  npx node examples/40-two-workers.ts &         a worker
  npx node examples/40-two-workers.ts &         another one
  npx node examples/40-two-workers.ts submit    ten runs; kill -9 a worker meanwhile`);
  process.exit();
}

const pack = tool({
  name: "pack",
  description: "Packs the order. Packing it twice changes nothing.",
  input: { type: "object", properties: {} },
  idempotent: true,
  execute: async () => {
    await sleep(300);
    return `packed by worker ${process.pid}`;
  },
});
const shipper = new Agent({
  name: "shipper",
  tools: [pack],
  model: scriptedModel(
    Array.from({ length: 1000 }, () => ({ messages }) => {
      const last = messages.at(-1);
      return last?.role === "tool" ? `Sent, ${last.content}.` : { toolCalls: [{ name: "pack", input: {} }] };
    }),
  ),
});

const store = postgresStore({ url });
const engine = dbosEngine({ store, agents: [shipper], concurrency: 2 });

if (process.argv[2] === "submit") {
  const orders = Array.from({ length: 10 }, (_, number) => `order ${number + 1}`);
  const runs = await Promise.all(
    orders.map((order) => engine.submit("shipper", { input: `Send ${order}.`, session: order })),
  );
  for (const { runId, session } of runs) {
    console.log(`${session}: ${(await engine.result(runId)).text}`);
  }
  await engine.close();
  await store.close();
} else {
  await engine.start();
  console.log(`worker ${process.pid} started`);
}
