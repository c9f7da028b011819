import { expect, test } from "vitest";
import { compactor } from "../../memory/compaction/compactor.ts";
import { ConversationMemory } from "../../memory/kinds/index.ts";
import { InMemorySession } from "../../sessions/in-memory-session.ts";
import { memoryStore } from "../../sessions/open-store.ts";
import { AgentState } from "../../state/agent-state.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { Agent } from "../agent.ts";
import { reactDriver } from "../drivers/react.ts";
import type { AgentOptions, ResumeOptions, RunOptions } from "../ports/agent-options.ts";

const agentOf = (options: object): Agent => new Agent({ model: scriptedModel(["Hello."]), ...options } as AgentOptions);

test.each([
  [{ separateToolTrace: "yes" }, '"separateToolTrace" must be true or false; found "yes".'],
  [{ description: 5 }, '"description" must be text; found 5.'],
  [{ modelSettings: 5 }, '"modelSettings" must be an object such as { temperature: 0 }; found 5.'],
  [{ outputRetries: -1 }, '"outputRetries" must be a whole number from 0; found -1.'],
  [{ session: null }, '"session" must be a session; found null.'],
  [{ session: "anna" }, 'Pass store.session("anna")'],
  [{ session: {} }, '"session" must be a session; found an object without getItems or addItems.'],
  [{ toolHistory: "all" }, '"toolHistory" must be "none", "digest" or "full"; found "all".'],
  [{ errorPolicy: "explode" }, '"errorPolicy" must be "continue", "stop" or'],
  [{ hooks: "x" }, '"hooks" must be an object of functions'],
  [{ hooks: { onRunEnd: 5 } }, '"hooks" must be an object of functions'],
  [{ continueWhile: 5 }, '"continueWhile" must be a criterion'],
  [{ continueWhile: [() => true, {}] }, '"continueWhile" must be a criterion'],
  [{ driver: "react" }, '"driver" must be a driver, such as reactDriver(); found "react".'],
  [{ retry: 3 }, '"retry" must be an object { maxRetries'],
  [{ retry: { maxRetries: -1 } }, '"maxRetries" must be a number from 0; found -1.'],
  [
    { retry: { attempts: 1 } },
    'The options of a retry have no "attempts"; they are maxRetries, initialDelayMs, maxDelayMs.',
  ],
  [
    { tracing: { enabeld: true } },
    'The options of tracing have no "enabeld"; they are enabled, content, sample, exporters, onError.',
  ],
  [{ memory: {} }, '"memory" must be a memory'],
  [{ memoryTokens: 1.5 }, '"memoryTokens" must be a whole number from 1; found 1.5.'],
  [{ maxParallelTools: "5" }, '"maxParallelTools" must be a number from 1; found "5".'],
  [{ hooks: null }, '"hooks" must be an object of functions such as { onRunEnd(event) }; found null.'],
  [{ tracing: { content: "no" } }, '"content" must be true or false; found "no".'],
  [{ tracing: "off" }, 'The options of tracing are an object; found "off".'],
  [{ compaction: {} }, '"compaction" must be made with compactor'],
  [{ tokenCounter: {} }, '"tokenCounter" must be a counter'],
  [{ tracing: { sample: 3 } }, '"sample" must be a share from 0 to 1'],
  [{ tracing: { sample: Number.NaN } }, '"sample" must be a share from 0 to 1'],
  [{ tracing: { exporters: [{}] } }, '"exporters" must be a list of span exporters'],
])("an agent with %j is refused, saying what must be there", (options, sentence) => {
  expect(() => agentOf(options)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  expect(() => agentOf(options)).toThrow(sentence);
});

test.each<[object]>([
  [{ toolHistory: "digest", errorPolicy: { maxToolErrors: 2 }, retry: { maxRetries: 0 } }],
  [{ hooks: { seen: [], onRunEnd() {} }, continueWhile: [() => undefined] }],
  [{ driver: reactDriver(), memory: new ConversationMemory(), memoryTokens: 10 }],
  [{ memory: () => new ConversationMemory(), compaction: compactor({ threshold: 1000 }) }],
  [{ tokenCounter: { count: () => 1 }, tracing: { sample: 0, exporters: [] } }],
  [{ hooks: undefined, memory: undefined, tracing: true, somethingElse: 5 }],
])("an agent with fitting options is made (%#)", (options) => {
  expect(agentOf(options)).toBeInstanceOf(Agent);
});

test.each([
  ["x", "The options of a run are an object"],
  [{ session: null }, '"session" must be a session; found null.'],
  [{ tracing: 5 }, "The options of tracing are an object; found 5."],
  [{ tracing: null }, "The options of tracing are an object; found null."],
  [{ onBusy: "wait" }, '"onBusy" must be "queue" or "reject"; found "wait".'],
  [{ record: "all" }, '"record" must be "conversation" or "everything"; found "all".'],
  [{ signal: "x" }, '"signal" must be an AbortSignal'],
  [{ signal: new AbortController() }, "such as controller.signal; found object."],
  [{ context: 5 }, '"context" must be an AgentContext or an object of values; found 5.'],
  [{ hooks: 5 }, '"hooks" must be an object of functions'],
  [{ historyTokens: -1 }, '"historyTokens" must be a number from 0'],
  [{ historyLimit: 1.5 }, '"historyLimit" must be a whole number from 0'],
  [{ tracing: { sample: 3 } }, '"sample" must be a share from 0 to 1'],
])("a run with %j is refused before anything is written, the same by run and stream", async (options, sentence) => {
  const session = new InMemorySession();
  const given = typeof options === "object" ? { session, ...options } : options;
  await expect(agentOf({}).run("Hi", given as RunOptions)).rejects.toThrow(sentence);
  const stream = agentOf({}).stream("Hi", given as RunOptions);
  await expect(stream.result).rejects.toThrow(sentence);
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow(sentence);
  expect(stream.runId).toBe("");
  expect(await session.isEmpty()).toBe(true);
});

test.each<[unknown, string]>([
  [memoryStore(), 'found a store. Pass store.session("some id").'],
  ["s", 'found the text "s". Pass store.session("s").'],
  [Promise.resolve(), "found a promise. Await it first."],
  [{}, "found an object without getItems or addItems."],
])("a session that is none is refused, saying what to pass (%#)", async (session, sentence) => {
  await expect(agentOf({}).run("Hi", { session } as RunOptions)).rejects.toThrow(sentence);
});

test("a function that gives no memory fails its run, saying so", async () => {
  await expect(agentOf({ memory: () => ({}) }).run("Hi")).rejects.toThrow('"memory" must be a memory with add');
});

test("input that is none is refused the same by run and stream", async () => {
  const agent = agentOf({});
  await expect(agent.run(null as unknown as string)).rejects.toThrow("found null");
  await expect(agent.stream(null as unknown as string).result).rejects.toThrow("found null");
});

test.each([
  [3, {}, "resume() takes the id of a run or the state it left; found 3."],
  [undefined, {}, "resume() takes the id of a run or the state it left; found undefined."],
  [AgentState.empty(), { approve: "call_1" }, '"approve" must be a list of tool call ids or approvals'],
  ["run", { store: "sqlite:x.db" }, '"store" must be a store: pass openStore(…) or the like; found "sqlite:x.db".'],
  [{ runId: "run", state: AgentState.empty() }, {}, "found a result. Pass its runId, or its state."],
  [AgentState.empty().toJSON(), {}, "found plain data. Pass AgentState.fromJSON(…) of it."],
  [{}, {}, "found object."],
  ["run", null, "The options of resume() are an object; found null."],
])("resume(%j, %j) is refused", async (source, options, sentence) => {
  const [from, given] = [source as string, options as ResumeOptions];
  await expect(agentOf({}).resume(from, given)).rejects.toThrow(sentence);
  await expect(agentOf({}).resumeStream(from, given).result).rejects.toThrow(sentence);
});

const noApproval = { needsAproval: true };

test.each<[string, () => unknown, string]>([
  ["an agent", () => agentOf({ maxStep: 3 }), 'The options of an agent have no "maxStep". Did you mean "maxSteps"?'],
  ["an agent", () => agentOf({ Tools: [] }), 'have no "Tools". Did you mean "tools"?'],
  ["an agent", () => agentOf({ system: "Be kind." }), 'have no "system". Did you mean "instructions"?'],
  ["an agent", () => agentOf({ toosl: [] }), 'have no "toosl". Did you mean "tools"?'],
  ["an agent", () => agentOf({ record: "everything" }), 'have no "record". It is an option of a run.'],
  ["hooks", () => agentOf({ hooks: { onToolsEnd() {} } }), 'Hooks have no "onToolsEnd". Did you mean "onToolEnd"?'],
  ["hooks", () => agentOf({ hooks: { onFinish() {} } }), 'Hooks have no "onFinish". Did you mean "onRunEnd"?'],
  ["a tool", () => agentOf({}).asTool(noApproval as object), 'have no "needsAproval". Did you mean "needsApproval"?'],
  ["a tool", () => agentOf({}).asTool({ maxDepth: "3" as never }), '"maxDepth" must be a number from 0; found "3".'],
])("a name that must be a slip is refused where it is given to %s (%#)", (_, make, sentence) => {
  expect(make).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  expect(make).toThrow(sentence);
});

test.each<[object, string]>([
  [{ sesion: {} }, 'The options of a run have no "sesion". Did you mean "session"?'],
  [{ abortSignal: AbortSignal.abort() }, 'have no "abortSignal". Did you mean "signal"?'],
  [{ tools: [] }, 'have no "tools". It is an option of the agent.'],
  [{ hooks: { onRunStarted() {} } }, 'Hooks have no "onRunStarted". Did you mean "onRunStart"?'],
])("a run with %j is refused: it would not do what it says", async (options, sentence) => {
  await expect(agentOf({}).run("Hi", options)).rejects.toThrow(sentence);
  await expect(agentOf({}).resume("run", options)).rejects.toThrow(sentence.replace("of a run", "of resume()"));
});

test.each([
  [{ aprove: [] }, 'Did you mean "approve"?'],
  [{ approvals: [] }, 'Did you mean "approve"?'],
  [{ deny: [] }, 'Did you mean "reject"?'],
])("a decision written as %j is refused", async (options, sentence) => {
  await expect(agentOf({}).resume("run", options as object)).rejects.toThrow(sentence);
});

test("a store where the session belongs is told what to pass, and a decision where to pass it", async () => {
  const run = (options: object) => agentOf({}).run("Hi", options);
  await expect(run({ store: memoryStore() })).rejects.toThrow('Did you mean "session: store.session("some id")"?');
  await expect(run({ approve: [] })).rejects.toThrow('have no "approve". It is an option of resume().');
});

test.each([
  [{ mode: "fast", names: [], name: "a" }],
  [{ sistem: undefined, label: "x", tags: [], version: 2, season: 1 }],
  [Object.create(null)],
  [{ session: new InMemorySession(), sessionId: "s" }],
])("what is somebody's own, or near what is given, passes (%#)", (options) => {
  expect(agentOf(options)).toBeInstanceOf(Agent);
});

test.each([
  [{ sessionID: "a" }, 'have no "sessionID". Did you mean "session"?'],
  [{ session_id: "a" }, 'Did you mean "session"?'],
  [{ max_turns: 3 }, 'Did you mean "maxSteps"?'],
  [{ onFinish() {} }, 'Did you mean "hooks: { onRunEnd }"?'],
  [{ onToolStart() {} }, 'Did you mean "hooks: { onToolStart }"?'],
])("a run told %j is told what is meant, however it is written", async (options, sentence) => {
  await expect(agentOf({}).run("Hi", options as RunOptions)).rejects.toThrow(sentence);
});

test.each([
  [{ approve: [{ runId: "r" }] }, "A decision is the id of a call, or an entry of result.approvals; found object."],
  [{ approve: [5] }, "found 5."],
  [{ reject: [{ toolCallId: "a", reason: { a: 1 } }] }, "The reason of a decision is text"],
])("a decision that is none, %j, is refused", async (options, sentence) => {
  await expect(agentOf({}).resume("r", { store: memoryStore(), ...options } as ResumeOptions)).rejects.toThrow(
    sentence,
  );
});
