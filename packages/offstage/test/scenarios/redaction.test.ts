// A store that redacts: what its redactor takes out is in no row of it, and what it changes is changed once.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { compactor, summarizeOlder } from "../../src/doors/memory.ts";
import {
  Agent,
  type AgentOptions,
  AgentState,
  type Message,
  memoryStore,
  type PersistentSession,
  type ResumeOptions,
  type RunResult,
  sqliteStore,
  tool,
} from "../../src/index.ts";
import { crashingStore, type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { paying } from "../support/approval-cast.ts";
import { bothWays, type Scene } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-redaction-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const canary = "canary-4711";
const removing = (message: Message): Message => JSON.parse(JSON.stringify(message).replaceAll(canary, "[gone]"));
const prefixing = (message: Message): Message =>
  ({ ...message, ...(typeof message.content === "string" && { content: `#${message.content}` }) }) as Message;

const pay = { name: "pay", id: "pay", input: { to: canary } };
const payAnn = { name: "pay", input: { to: "ann" } };
const huge = tool({ name: "huge", execute: () => ({ first: canary, pad: "x".repeat(100_000), last: canary }) });
const long = tool({ name: "long", execute: () => `${canary} ${"y".repeat(100_000)} ${canary}` });
const failing = tool({
  name: "failing",
  execute: () => {
    throw new Error(`no ${canary}`);
  },
});

function saying(script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}): Agent<unknown> {
  const tools = [huge, long, failing, echo, paying().pay];
  return new Agent({ name: "teller", model: scriptedModel(script), tools, ...options });
}

/** An agent that asks another, which looks at something and then wants to pay. */
function asking(): Agent<unknown> {
  const clerk = saying([calls(echoing(canary)), calls(echoing(`${canary} 2`), pay), `Paid ${canary}.`], {
    name: "clerk",
  });
  const ask = { name: "clerk", input: { prompt: `Pay ${canary}` } };
  return saying([calls(ask), `The clerk paid ${canary}.`], { tools: [clerk.asTool()] });
}

interface RedactionScene extends Scene {
  readonly session: PersistentSession;
  resume(agent: Agent<unknown>, source: AgentState | string, options?: ResumeOptions): Promise<RunResult<unknown>>;
}

type Act = (scene: RedactionScene) => Promise<void>;

/** Everything that writes. */
const acts: Readonly<Record<string, Act>> = {
  "results that are clipped, and one that failed": async ({ play, session }) => {
    const agent = saying([calls({ name: "huge" }, { name: "long" }), calls({ name: "failing" }), `It is ${canary}.`]);
    await play(agent, `Go ${canary}`, { session });
  },
  "a run that fails with its tool": async ({ fail, session }) => {
    const agent = saying([calls({ name: "failing" })], { errorPolicy: "stop" });
    await fail(agent, `Go ${canary}`, { session });
  },
  "a subagent that waits, resumed by id": async ({ play, resume, session }) => {
    const agent = asking();
    const { runId } = await play(agent, `Go ${canary}`, { session });
    const idle = await resume(agent, runId, { session });
    const { output } = await resume(agent, runId, { session, approve: idle.approvals });
    expect(output).toContain("The clerk paid");
  },
  "a subagent that waits, resumed by state": async ({ play, resume, session }) => {
    const agent = asking();
    const { state } = await play(agent, `Go ${canary}`, { session });
    const idle = await resume(agent, state, { session });
    const { output } = await resume(agent, idle.state, { session, approve: idle.approvals });
    expect(output).toContain("The clerk paid");
  },
  "a step that waits, resumed by state": async ({ play, resume, session }) => {
    const agent = saying([calls(echoing(canary)), calls(echoing(canary), pay), `Paid ${canary}.`]);
    const { state, approvals } = await play(agent, `Go ${canary}`, { session });
    await resume(agent, state, { session, approve: approvals });
  },
  "everything in the conversation, resumed by id": async ({ play, resume, session }) => {
    const agent = saying([calls(echoing(canary)), calls(echoing(canary), payAnn), `Paid ${canary}.`]);
    const { runId, approvals } = await play(agent, `Go ${canary}`, { session });
    await resume(agent, runId, { session, approve: approvals, persist: "everything" });
  },
  "a long conversation that is compacted, resumed by id": async ({ play, resume, session }) => {
    const compaction = compactor({
      threshold: 400,
      strategy: summarizeOlder({ summarize: () => `All of ${canary}.` }),
    });
    const talk = scriptedModel(({ index }) => (index === 24 ? calls(payAnn) : `${canary} is what it is. `.repeat(4)));
    const agent = saying([], { model: talk, compaction });
    for (let turn = 0; turn < 24; turn++) await play(agent, `Tell me of ${canary}.`, { session });
    const { runId, approvals } = await play(agent, "Pay.", { session });
    // One that has room goes on with the summary it finds.
    const again = saying([], { model: talk, compaction: compactor({ threshold: 100_000 }) });
    await resume(again, runId, { session, approve: approvals });
  },
  "spans with content": async ({ play, session }) => {
    const agent = saying([calls(echoing(canary)), `It is ${canary}.`]);
    await play(agent, `Go ${canary}`, { session, tracing: { content: true } });
  },
};

let files = 0;

/** Acts on a file whose store redacts, and gives what it holds in the end. */
async function fileAfter(act: Act, scene: Scene, redact: (message: Message) => Message) {
  const path = join(folder, `${files++}.db`);
  const store = sqliteStore({ path, redact });
  const resume: RedactionScene["resume"] = (agent, source, options) =>
    scene.way === "run" ? agent.resume(source, options) : agent.resumeStream(source, options).result;
  await act({ ...scene, session: store.session("s"), resume });
  expect(await store.verify()).toEqual([]);
  await store.close();
  const bytes = readFileSync(path);
  const database = new DatabaseSync(path);
  const found = database.prepare("SELECT list || ' ' || key || ' ' || value AS text FROM offstage").all();
  database.close();
  return { bytes, rows: found.map(({ text }) => String(text)) };
}

describe("what the redactor takes out is nowhere in the file", () => {
  for (const [name, act] of Object.entries(acts)) {
    bothWays(name, async (scene) => {
      const { bytes, rows } = await fileAfter(act, scene, removing);
      expect(rows.filter((row) => row.includes(canary))).toEqual([]);
      expect(bytes.includes(canary)).toBe(false);
      expect(rows.some((row) => row.includes("[gone]"))).toBe(true);
    });
  }
});

describe("the redactor is applied once to what is stored", () => {
  for (const [name, act] of Object.entries(acts)) {
    bothWays(name, async (scene) => {
      const { rows } = await fileAfter(act, scene, prefixing);
      expect(rows.filter((row) => row.includes("##"))).toEqual([]);
      expect(rows.some((row) => row.includes('"#'))).toBe(true);
    });
  }
});

test("what is written of a step that waits is not written again when the state goes on", async () => {
  const seen: unknown[] = [];
  const redact = (message: Message): Message => {
    seen.push(message.metadata?.id);
    return message;
  };
  await using store = memoryStore({ redact });
  const session = store.session("s");
  const agent = saying([calls(echoing("a"), pay), "Paid."]);
  const { state, approvals, runId } = await agent.run("Go", { session });
  await agent.resume(AgentState.fromJSON(JSON.parse(JSON.stringify(state))), { session, approve: approvals });
  expect(seen).toHaveLength(5);
  expect(new Set(seen).size).toBe(5);
  const messages = (await store.runs.get(runId))?.steps.flatMap((step) => step.messages) ?? [];
  expect(glance(messages)).toEqual([
    "assistant: [echo pay]",
    "tool: echo a",
    "tool: paid canary-4711",
    "assistant: Paid.",
  ]);
});

test("a whole value keeps its form where the redactor leaves it one", async () => {
  const valueUnder = async (redact: (message: Message) => Message, name: string) => {
    await using store = memoryStore({ redact });
    const { runId } = await saying([calls({ name, id: "c" }), "Done."]).run("Go", { session: store.session("s") });
    return await store.runs.value(runId, "c");
  };
  expect(await valueUnder(removing, "huge")).toMatchObject({ first: "[gone]", last: "[gone]" });
  expect(await valueUnder(removing, "long")).toMatch(/^\[gone\] y+ \[gone\]$/);
  expect(await valueUnder(prefixing, "huge")).toMatch(/^#\{"first"/);
});

describe("a call whose arguments were redacted", () => {
  const waiting = async (agent: Agent<unknown>) => {
    const store = memoryStore({ redact: removing });
    return { store, ...(await agent.run("Go", { session: store.session("s") })) };
  };
  const payer = () => {
    const { paid, pay: tool } = paying();
    return { paid, agent: saying([calls(pay), "Done."], { name: "clerk", tools: [tool] }) };
  };

  test("is not approved by the id of its run; by its state it runs as it was meant", async () => {
    const { paid, agent } = payer();
    const { store, runId, state } = await waiting(agent);
    await expect(agent.resume(runId, { store, approve: ["pay"] })).rejects.toMatchObject({
      code: "run-not-resumable",
      message: expect.stringContaining("its arguments were redacted in the store. Resume the run by its last state"),
    });
    expect((await store.runs.get(runId))?.status).toBe("waiting");
    expect((await agent.resume(state, { store, approve: ["pay"] })).output).toBe("Done.");
    expect(paid).toEqual([canary]);
  });

  test("is known by a redactor that writes to what it is shown, and the run goes on with what was said", async () => {
    const { paid, pay: tool } = paying();
    const agent = saying([calls(pay), "Done."], { name: "clerk", tools: [tool] });
    const redact = (message: Message): Message => {
      const shown = message as { tool_calls?: { function: { arguments: string } }[] };
      for (const call of shown.tool_calls ?? []) call.function.arguments = "{}";
      return message;
    };
    const store = memoryStore({ redact });
    const { runId, approvals, state } = await agent.run("Go", { session: store.session("s") });
    expect(approvals).toMatchObject([{ input: { to: canary } }]);
    await expect(agent.resume(runId, { store, approve: ["pay"] })).rejects.toThrow("were redacted in the store");
    await agent.resume(state, { store, approve: ["pay"] });
    expect(paid).toEqual([canary]);
  });

  test("takes no subagent with it that waits inside the call", async () => {
    const { paid, pay: tool } = paying();
    const clerk = saying([calls({ ...pay, input: {} }), "Done."], { name: "clerk", tools: [tool] });
    const agent = saying([calls({ name: "clerk", input: { prompt: canary } }), "Done."], { tools: [clerk.asTool()] });
    const redact = (message: Message): Message => JSON.parse(JSON.stringify(message).replaceAll("prompt", "p"));
    const store = memoryStore({ redact });
    const { runId, approvals } = await agent.run("Go", { session: store.session("s") });
    expect((await agent.resume(runId, { store, approve: approvals })).output).toBe("Done.");
    expect(paid).toHaveLength(1);
    expect((await store.runs.get(runId))?.children).toMatchObject([{ status: "completed" }]);
  });

  test("is told as interrupted where it may have begun, though its tool may run again", async () => {
    const put = tool({ name: "put", idempotent: true, input: { type: "object" }, execute: () => "put" });
    const agent = saying([calls({ name: "put", input: { to: canary } }), "Done."], { tools: [put] });
    const cut = { at: "tool.intent", when: "after", action: new Error("the store broke") } as const;
    const store = crashingStore(memoryStore({ redact: removing }), cut);
    const { result } = await agent.run("Go", { session: store.session("s") }).catch((error) => error);
    const { steps } = await agent.resume(result.runId, { store });
    expect(steps[0]?.toolResults[0]?.content).toContain('"put" was interrupted and is not run again: its arguments');
  });

  test("is rejected as any other", async () => {
    const { paid, agent } = payer();
    const { store, runId } = await waiting(agent);
    expect((await agent.resume(runId, { store, reject: ["pay"] })).output).toBe("Done.");
    expect(paid).toEqual([]);
  });

  test("does not run in a subagent that is resumed by id: its model is told why", async () => {
    const paidTo = async (source: (waiting: RunResult<unknown>) => AgentState | string) => {
      const { paid, agent: clerk } = payer();
      const ask = { name: "clerk", input: { prompt: "Pay" } };
      const agent = saying([calls(ask), "Done."], { tools: [clerk.asTool()] });
      const { store, ...left } = await waiting(agent);
      await agent.resume(source(left), { store, approve: left.approvals });
      const child = (await store.runs.get(left.runId))?.children[0]?.runId ?? "";
      return { paid, told: (await store.runs.get(child))?.steps[0]?.messages.at(-1)?.content };
    };
    const byId = await paidTo(({ runId }) => runId);
    expect(byId.paid).toEqual([]);
    expect(byId.told).toContain('The tool "pay" was not run: its arguments were redacted');
    expect((await paidTo(({ state }) => state)).paid).toEqual([canary]);
  });
});

test.each<[string, unknown, string]>([
  ["throws", thrower, "The redactor of the store threw: no more. Nothing was written."],
  ["gives nothing", () => undefined, 'must return a message of the role "user" synchronously; it returned undefined.'],
  ["gives text", () => "x", 'it returned "x".'],
  ["gives a promise", async (message: Message) => message, "it returned a promise."],
  ["gives another role", () => ({ role: "system", content: "x" }), 'it returned one of the role "system".'],
  ["gives another role when it is written", () => ({ role: "user", content: "x", toJSON: evil }), 'the role "system"'],
  ["gives no content", () => ({ role: "user", content: null }), "must return a message that can be stored"],
  ["gives a number", () => ({ role: "user", content: 5 }), "must return a message that can be stored"],
  ["gives what JSON cannot hold", () => ({ role: "user", content: "x", metadata: { n: 5n } }), "can be stored"],
])("a redactor that %s fails the run, and nothing is written", async (_, redact, sentence) => {
  const store = memoryStore({ redact: redact as () => Message });
  const failed = { code: "redactor-failed", message: expect.stringContaining(sentence) };
  await expect(saying(["Hello."]).run("Hi", { session: store.session("s") })).rejects.toMatchObject(failed);
  await expect(store.session("s").addItem({ role: "user", content: "Hi" })).rejects.toMatchObject(failed);
  expect(await store.session("s").getItems()).toEqual([]);
  expect(await store.verify()).toEqual([]);
});

const evil = () => ({ role: "system", content: "x" });

function thrower(): never {
  throw new Error("no more");
}

describe("the content of a span", () => {
  const span = (content: object) =>
    ({
      ...{ traceId: "c31254b8d23539dc560dc23f3a0aaa2d", spanId: "0db89e75a52f86a1", name: "work", kind: "custom" },
      ...{ startTime: 1_794_926_977_000, endTime: 1_794_926_977_001, duration: 1, status: "ok", metadata: { a: 1 } },
      content,
    }) as never;
  const traceId = "c31254b8d23539dc560dc23f3a0aaa2d";

  test("that JSON cannot hold is made plain before the redactor sees it", async () => {
    const store = memoryStore({ redact: removing });
    await store.spans.add([span({ big: 5n, said: canary })]);
    expect(await store.spans.list({ traceId })).toMatchObject([
      { name: "work", metadata: { a: 1 }, content: { big: "5", said: "[gone]" } },
    ]);
  });

  test("is left out where the redactor fails, and somebody is told", async () => {
    const told: unknown[] = [];
    const redact = () => {
      throw new Error("broken");
    };
    const store = memoryStore({ redact, onError: (error) => told.push(error) });
    await store.spans.add([span({ said: canary })]);
    const [kept] = await store.spans.list({ traceId });
    expect(kept).toMatchObject({ name: "work", metadata: { a: 1 } });
    expect(kept).not.toHaveProperty("content");
    expect(told).toMatchObject([{ code: "redactor-failed" }]);
  });
});

test("the name of a tool that a model made up is no name of a span", async () => {
  const store = memoryStore();
  const { traceId = "" } = await saying([calls({ name: `find_${canary}` }), "Done."]).run("Hi", {
    session: store.session("s"),
  });
  const names = (await store.spans.list({ traceId })).map(({ name }) => name);
  expect(names).toContain("unknown_tool");
  expect(names.join()).not.toContain(canary);
});
