// A redacting store: text that its redactor removes is in no row, and every stored message is redacted exactly once.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compactor, summarizeOlder } from "../../src/doors/memory.ts";
import {
  type Agent,
  AgentState,
  type Message,
  memoryStore,
  type PersistentSession,
  type ResumeOptions,
  type RunResult,
  sqliteStore,
} from "../../src/index.ts";
import { storeSource } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays, type Scene } from "../support/both-ways.ts";
import { calls, echoing, glance } from "../support/cast.ts";
import { canary, pay, prefixing, removing, saying } from "../support/redaction-cast.ts";
import { rowsIn, valuesIn } from "../support/stored-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-redaction-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const payAnn = { name: "pay", input: { to: "ann" } };

/** An agent with a subagent that calls a tool and then needs approval to pay. */
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

/** Scenarios that together cover everything a store writes. */
const acts: Readonly<Record<string, Act>> = {
  "clipped results and a failed one": async ({ play, session }) => {
    const agent = saying([calls({ name: "huge" }, { name: "long" }), calls({ name: "failing" }), `It is ${canary}.`]);
    await play(agent, `Go ${canary}`, { session });
  },
  "a run that fails because its tool failed": async ({ fail, session }) => {
    const agent = saying([calls({ name: "failing" })], { errorPolicy: "stop" });
    await fail(agent, `Go ${canary}`, { session });
  },
  "a waiting subagent, resumed by id": async ({ play, resume, session }) => {
    const agent = asking();
    const { runId } = await play(agent, `Go ${canary}`, { session });
    const idle = await resume(agent, runId, { session });
    const { output } = await resume(agent, runId, { session, approve: idle.approvals });
    expect(output).toContain("The clerk paid");
  },
  "a waiting subagent, resumed by state": async ({ play, resume, session }) => {
    const agent = asking();
    const { state } = await play(agent, `Go ${canary}`, { session });
    const idle = await resume(agent, state, { session });
    const { output } = await resume(agent, idle.state, { session, approve: idle.approvals });
    expect(output).toContain("The clerk paid");
  },
  "a waiting step, resumed by state": async ({ play, resume, session }) => {
    const agent = saying([calls(echoing(canary)), calls(echoing(canary), pay), `Paid ${canary}.`]);
    const { state, approvals } = await play(agent, `Go ${canary}`, { session });
    await resume(agent, state, { session, approve: approvals });
  },
  "a conversation with tool messages, resumed by id": async ({ play, resume, session }) => {
    const agent = saying([calls(echoing(canary)), calls(echoing(canary), payAnn), `Paid ${canary}.`]);
    const { runId, approvals } = await play(agent, `Go ${canary}`, { session });
    await resume(agent, runId, { session, approve: approvals, persist: "everything" });
  },
  "a compacted conversation, resumed by id": async ({ play, resume, session }) => {
    const compaction = compactor({
      threshold: 400,
      strategy: summarizeOlder({ summarize: () => `All of ${canary}.` }),
    });
    const talk = scriptedModel(({ index }) => (index === 24 ? calls(payAnn) : `${canary} is what it is. `.repeat(4)));
    const agent = saying([], { model: talk, compaction });
    for (let turn = 0; turn < 24; turn++) await play(agent, `Tell me of ${canary}.`, { session });
    const { runId, approvals } = await play(agent, "Pay.", { session });
    // An agent with a larger threshold continues with the stored summary.
    const again = saying([], { model: talk, compaction: compactor({ threshold: 100_000 }) });
    await resume(again, runId, { session, approve: approvals });
  },
  "a model call that was retried": async ({ play, session }) => {
    const down = Object.assign(new Error(`No answer for ${canary}`), { isRetryable: true });
    const model = scriptedModel([down, `It is ${canary}.`]);
    await play(saying([], { model, retry: { initialDelayMs: 1 } }), `Go ${canary}`, { session });
  },
  "a run whose model fails": async ({ fail, session }) => {
    await fail(saying([new Error(`No answer for ${canary}`)]), `Go ${canary}`, { session });
  },
  "instructions, a title and parts": async ({ play, session }) => {
    const agent = saying([calls(echoing(canary)), `It is ${canary}.`], { instructions: `You know ${canary}.` });
    const file = { type: "file", mediaType: "text/plain", data: `${canary} `.repeat(300) };
    const content = [{ type: "text", text: canary }, file] as never;
    await play(agent, { role: "user", content }, { session });
  },
  "spans with content": async ({ play, session }) => {
    const agent = saying([calls(echoing(canary)), `It is ${canary}.`]);
    await play(agent, `Go ${canary}`, { session, tracing: { content: true } });
  },
};

let files = 0;

/** Plays a scenario on a redacting SQLite file, and returns the bytes of that file and its log, and the values in its tables. */
async function fileAfter(act: Act, scene: Scene, redact: (message: Message) => Message) {
  const path = join(folder, `${files++}.db`);
  const store = sqliteStore({ path, redact });
  const resume: RedactionScene["resume"] = (agent, source, options) =>
    scene.way === "run" ? agent.resume(source, options) : agent.resumeStream(source, options).result;
  await act({ ...scene, session: store.session("s"), resume });
  expect(await store.verify()).toEqual([]);
  // Closing the store empties its log.
  const before = [path, `${path}-wal`].map((each) => readFileSync(each));
  await store.close();
  const bytes = Buffer.concat([...before, readFileSync(path)]);
  return { bytes, rows: valuesIn(path) };
}

describe("text that the redactor removes is nowhere in the file", () => {
  for (const [name, act] of Object.entries(acts)) {
    bothWays(name, async (scene) => {
      const { bytes, rows } = await fileAfter(act, scene, removing);
      expect(rows.filter((row) => row.includes(canary))).toEqual([]);
      expect(bytes.includes(canary)).toBe(false);
      expect(rows.some((row) => row.includes("[gone]"))).toBe(true);
    });
  }
});

describe("every stored message is redacted exactly once", () => {
  for (const [name, act] of Object.entries(acts)) {
    bothWays(name, async (scene) => {
      const { rows } = await fileAfter(act, scene, prefixing);
      expect(rows.filter((row) => row.includes("##"))).toEqual([]);
      expect(rows.some((row) => row.includes('"#'))).toBe(true);
    });
  }
});

test("messages of a waiting step are not written again when its state is resumed", async () => {
  await using store = memoryStore({ redact: prefixing });
  const session = store.session("s");
  const agent = saying([calls(echoing("a"), pay), "Paid."]);
  const { state, approvals, runId } = await agent.run("Go", { session });
  const messageRows = async () => {
    const rows = await rowsIn(await store[storeSource].load());
    return rows.filter(({ table }) => table === "messages");
  };
  const before = await messageRows();
  await agent.resume(AgentState.fromJSON(JSON.parse(JSON.stringify(state))), { session, approve: approvals });
  const after = await messageRows();
  expect(after.slice(0, before.length)).toEqual(before);
  expect([before.length, after.length]).toEqual([3, 5]);
  const messages = (await store.runs.get(runId))?.steps.flatMap((step) => step.messages) ?? [];
  expect(glance(messages)).toEqual([
    "assistant: [echo pay]",
    "tool: #echo a",
    "tool: #paid canary-4711",
    "assistant: #Paid.",
  ]);
});

test("the whole value of a clipped result stays structured if it is still JSON after redaction", async () => {
  const valueUnder = async (redact: (message: Message) => Message, name: string) => {
    await using store = memoryStore({ redact });
    const { runId } = await saying([calls({ name, id: "c" }), "Done."]).run("Go", { session: store.session("s") });
    return await store.runs.value(runId, "c");
  };
  expect(await valueUnder(removing, "huge")).toMatchObject({ first: "[gone]", last: "[gone]" });
  expect(await valueUnder(removing, "long")).toMatch(/^\[gone\] y+ \[gone\]$/);
  expect(await valueUnder(prefixing, "huge")).toMatch(/^#\{"first"/);
});

test("a redactor of contents also keeps reasoning and text out of the provider's own parts", async () => {
  const redact = (message: Message): Message =>
    typeof message.content === "string"
      ? ({ ...message, content: message.content.replaceAll(canary, "[gone]") } as Message)
      : message;
  const script = [
    { reasoning: `It is ${canary}.`, toolCalls: [echoing("a")] },
    { reasoning: "Easy.", text: `I say ${canary}.` },
    { reasoning: "Easy.", text: "Fine." },
  ];
  await using store = memoryStore({ redact });
  const agent = saying(script);
  await agent.run("Go", { session: store.session("s") });
  await agent.run("Again", { session: store.session("s") });
  const rows = await rowsIn(await store[storeSource].load());
  expect(JSON.stringify(rows)).not.toContain(canary);
  const parts = rows.flatMap(({ table, row }) => (table === "messages" && row.provider_parts !== null ? [row] : []));
  expect(parts.map(({ content }) => content)).toEqual(["Fine."]);
});
