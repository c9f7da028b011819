// A process in which people meet a run: it is killed while it speaks, speaks to another process, works until it is stopped, or asks.
import { appendFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, openStore, type Store, tool } from "../../src/index.ts";
import { crashingStore, scriptedModel } from "../../src/testing/index.ts";

export type PeopleJob =
  | { readonly role: "killed"; readonly at: "inbox.add" | "inbox.take"; readonly when: "before" | "after" }
  | { readonly role: "speak"; readonly name: string; readonly count: number }
  | { readonly role: "work" }
  | { readonly role: "ask"; readonly effects: string };

export type PlacedJob = PeopleJob & { readonly url: string; readonly session: string };

/** Says something while it works. */
export function listener(store: Store, session: string): Agent {
  const listen = tool({
    name: "listen",
    input: {},
    execute: async () => {
      await store.session(session).say("Meanwhile.");
      return "heard";
    },
  });
  const reply = ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
    messages.some(({ role }) => role === "tool") ? "Done." : { toolCalls: [{ name: "listen", id: "c1" }] };
  return new Agent({ name: "listener", model: scriptedModel(reply), tools: [listen] });
}

/** Asks for a seat, and writes the booking into a file. */
export function clerk(effects: string): Agent {
  const book = tool({
    name: "book",
    input: {},
    execute: async (_, { ask }) => {
      const seat = await ask({ message: "Which seat?", schema: { type: "string" } });
      appendFileSync(effects, `${seat}\n`);
      return `booked ${seat}`;
    },
  });
  const reply = ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
    messages.some(({ role }) => role === "tool") ? "Booked." : { toolCalls: [{ name: "book", id: "b1" }] };
  return new Agent({ name: "clerk", model: scriptedModel(reply), tools: [book] });
}

async function perform(job: PlacedJob, plain: Store): Promise<unknown> {
  if (job.role === "killed") {
    const store = crashingStore(plain, { at: job.at, when: job.when, action: "kill" });
    return listener(store, job.session).run("Go", { session: store.session(job.session) });
  }
  if (job.role === "speak") {
    for (let number = 0; number < job.count; number++) {
      await plain.session(job.session).say(`${job.name} ${number}`);
      await sleep(Math.random() * 20);
    }
    return { spoken: job.count };
  }
  if (job.role === "ask") {
    const { runId, outcome } = await clerk(job.effects).run("A seat", { session: plain.session(job.session) });
    writeSync(1, `${JSON.stringify({ runId, status: outcome.status })}\n`);
    return process.kill(process.pid, "SIGKILL");
  }
  const wait = tool({
    name: "wait",
    input: {},
    execute: async (_, { signal }) => {
      writeSync(1, "working\n");
      await sleep(600_000, undefined, { signal });
    },
  });
  const agent = new Agent({ model: scriptedModel([{ toolCalls: [{ name: "wait" }] }, "Never."]), tools: [wait] });
  return (await agent.run("Go", { session: plain.session(job.session) })).outcome;
}

const [given] = process.argv.slice(2);
if (given !== undefined && process.argv[1]?.endsWith("people-worker.ts")) {
  const job = JSON.parse(given) as PlacedJob;
  const store = openStore(job.url);
  writeSync(1, `${JSON.stringify(await perform(job, store))}\n`);
  await store.close();
}
