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
  [{ outputRetries: -1 }, '"outputRetries" must be a whole number of at least 0; found -1.'],
  [{ session: null }, '"session" must be a session; found null.'],
  [{ session: "anna" }, 'Pass store.session("anna")'],
  [{ session: {} }, '"session" must be a session; found an object without getItems or addItems.'],
  [{ toolHistory: "all" }, '"toolHistory" must be "none", "digest" or "full"; found "all".'],
  [{ errorPolicy: "explode" }, '"errorPolicy" must be "continue", "stop" or'],
  [{ hooks: "x" }, '"hooks" must be an object of functions'],
  [{ hooks: { onRunEnd: 5 } }, '"hooks" must be an object of functions'],
  [{ stopWhen: 5 }, '"stopWhen" must be a criterion'],
  [{ stopWhen: [() => true, {}] }, '"stopWhen" must be a criterion'],
  [{ driver: "react" }, '"driver" must be a driver, such as reactDriver(); found "react".'],
  [{ retry: 3 }, '"retry" must be an object { maxRetries'],
  [{ retry: { maxRetries: -1 } }, '"maxRetries" must be a number of at least 0; found -1.'],
  [
    { retry: { attempts: 1 } },
    'Unknown retry option "attempts". Valid options: maxRetries, initialDelayMs, maxDelayMs.',
  ],
  [
    { tracing: { enabeld: true } },
    'Unknown tracing option "enabeld". Valid options: enabled, content, sample, exporters, onError.',
  ],
  [{ memory: {} }, '"memory" must be a memory'],
  [{ memoryTokens: 1.5 }, '"memoryTokens" must be a whole number of at least 1; found 1.5.'],
  [{ maxParallelTools: "5" }, '"maxParallelTools" must be a number of at least 1; found "5".'],
  [{ hooks: null }, '"hooks" must be an object of functions such as { onRunEnd(event) }; found null.'],
  [{ tracing: { content: "no" } }, '"content" must be true or false; found "no".'],
  [{ tracing: "off" }, 'The tracing options must be an object; found "off".'],
  [{ compaction: {} }, '"compaction" must be made with compactor'],
  [{ tokenCounter: {} }, '"tokenCounter" must be a counter'],
  [{ prices: 5 }, '"prices" must be prices by model name, such as { "my-model": { input: 1, output: 2 } }; found 5.'],
  [{ prices: { "my-model": { input: 1 } } }, '"prices" must be prices by model name'],
  [{ tracing: { sample: 3 } }, '"sample" must be a share from 0 to 1'],
  [{ tracing: { sample: Number.NaN } }, '"sample" must be a share from 0 to 1'],
  [{ tracing: { exporters: [{}] } }, '"exporters" must be a list of span exporters'],
])("an agent with %j is refused, with the values that are allowed", (options, sentence) => {
  expect(() => agentOf(options)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  expect(() => agentOf(options)).toThrow(sentence);
});

test.each<[object]>([
  [{ toolHistory: "digest", errorPolicy: { maxToolErrors: 2 }, retry: { maxRetries: 0 } }],
  [{ hooks: { seen: [], onRunEnd() {} }, stopWhen: [() => undefined] }],
  [{ driver: reactDriver(), memory: new ConversationMemory(), memoryTokens: 10 }],
  [{ memory: () => new ConversationMemory(), compaction: compactor({ threshold: 1000 }) }],
  [{ prices: { "my-model": { input: 1, output: 2, cachedInput: undefined, cacheWrite: 3 } } }],
  [{ tokenCounter: { count: () => 1 }, tracing: { sample: 0, exporters: [] } }],
  [{ hooks: undefined, memory: undefined, tracing: true, somethingElse: undefined }],
])("an agent with valid options is created (%#)", (options) => {
  expect(agentOf(options)).toBeInstanceOf(Agent);
});

test.each([
  ["x", "The run options must be an object"],
  [{ session: null }, '"session" must be a session; found null.'],
  [{ tracing: 5 }, "The tracing options must be an object; found 5."],
  [{ tracing: null }, "The tracing options must be an object; found null."],
  [{ onBusy: "wait" }, '"onBusy" must be "queue", "reject" or "steer"; found "wait".'],
  [{ persist: "all" }, '"persist" must be "conversation" or "everything"; found "all".'],
  [{ signal: "x" }, '"signal" must be an AbortSignal'],
  [{ signal: new AbortController() }, "such as controller.signal; found object."],
  [{ context: 5 }, '"context" must be an AgentContext or an object of values; found 5.'],
  [{ hooks: 5 }, '"hooks" must be an object of functions'],
  [{ historyTokens: -1 }, '"historyTokens" must be a number of at least 0'],
  [{ historyLimit: 1.5 }, '"historyLimit" must be a whole number of at least 0'],
  [{ tracing: { sample: 3 } }, '"sample" must be a share from 0 to 1'],
])("a run with %j is refused before anything is written, by run() and stream() alike", async (options, sentence) => {
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
])("a value that is not a session is refused, with a hint what to pass (%#)", async (session, sentence) => {
  await expect(agentOf({}).run("Hi", { session } as RunOptions)).rejects.toThrow(sentence);
});

test("a memory function that returns something else fails the run", async () => {
  await expect(agentOf({ memory: () => ({}) }).run("Hi")).rejects.toThrow('"memory" must be a memory with add');
});

test("invalid input is refused by run() and stream() alike", async () => {
  const agent = agentOf({});
  await expect(agent.run(null as unknown as string)).rejects.toThrow("found null");
  await expect(agent.stream(null as unknown as string).result).rejects.toThrow("found null");
});

test.each([
  [3, {}, "resume() needs the id of a run or its last state; found 3."],
  [undefined, {}, "resume() needs the id of a run or its last state; found undefined."],
  [AgentState.empty(), { approve: "call_1" }, '"approve" must be a list of tool call ids or approvals'],
  ["run", { store: "sqlite:x.db" }, '"store" must be a store: pass openStore(…) or the like; found "sqlite:x.db".'],
  [{ runId: "run", state: AgentState.empty() }, {}, "found a result. Pass its runId, or its state."],
  [AgentState.empty().toJSON(), {}, "found plain data. Pass AgentState.fromJSON(data)."],
  [{}, {}, "found object."],
  ["run", null, "The resume() options must be an object; found null."],
])("resume(%j, %j) is refused", async (source, options, sentence) => {
  const [from, given] = [source as string, options as ResumeOptions];
  await expect(agentOf({}).resume(from, given)).rejects.toThrow(sentence);
  await expect(agentOf({}).resumeStream(from, given).result).rejects.toThrow(sentence);
});

test.each<[string, () => unknown, string]>([
  [
    "an agent",
    () => agentOf({ maxStep: 3 }),
    'Unknown agent option "maxStep". Valid options: name, model, instructions,',
  ],
  [
    "an agent",
    () => agentOf({ system: "Be kind." }),
    'Unknown agent option "system". Use "instructions" instead. Valid',
  ],
  ["an agent", () => agentOf({ continueWhile: () => true }), 'option "continueWhile". Use "stopWhen" instead. Valid'],
  ["an agent", () => agentOf({ persist: "everything" }), 'Unknown agent option "persist". Valid options: '],
  [
    "hooks",
    () => agentOf({ hooks: { onFinish() {} } }),
    'Unknown hook "onFinish". Valid hooks: onRunStart, onStepStart,',
  ],
  [
    "asTool()",
    () => agentOf({}).asTool({ needsAproval: true } as object),
    'Unknown asTool() option "needsAproval". Valid',
  ],
  [
    "asTool()",
    () => agentOf({}).asTool({ maxDepth: "3" as never }),
    '"maxDepth" must be a number of at least 0; found "3".',
  ],
])("an unknown name passed to %s is refused, with the valid names (%#)", (_, make, sentence) => {
  expect(make).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  expect(make).toThrow(sentence);
});

test.each<[object, string]>([
  [{ sesion: {} }, 'Unknown run option "sesion". Valid options: session, historyLimit, '],
  [{ abortSignal: AbortSignal.abort() }, 'Unknown run option "abortSignal". Use "signal" instead.'],
  [{ metadata: {} }, 'Unknown run option "metadata". Valid options: '],
  [{ onToolStart() {} }, 'Unknown run option "onToolStart". Use hooks: { onToolStart } instead.'],
  [{ hooks: { onRunStarted() {} } }, 'Unknown hook "onRunStarted". Valid hooks: onRunStart, '],
])("a run or a resume with %j is refused (%#)", async (options, sentence) => {
  await expect(agentOf({}).run("Hi", options)).rejects.toThrow(sentence);
  await expect(agentOf({}).resume("run", options)).rejects.toThrow(sentence.replace("run option", "resume() option"));
});

test.each([
  [{ aprove: [] }, 'Unknown resume() option "aprove". Valid options: '],
  [{ approvals: [] }, 'Use "approve" instead.'],
  [{ deny: [] }, 'Use "reject" instead.'],
])("a decision written as %j is refused", async (options, sentence) => {
  await expect(agentOf({}).resume("run", options as object)).rejects.toThrow(sentence);
});

test("a store passed instead of a session is refused, with a hint what to pass", async () => {
  const running = agentOf({}).run("Hi", { store: memoryStore() } as RunOptions);
  await expect(running).rejects.toThrow('Use session: store.session("some id") instead.');
});

test.each([
  [{ approve: [{ runId: "r" }] }, "A decision must be a tool call id or an entry of result.approvals; found object."],
  [{ approve: [5] }, "found 5."],
  [{ reject: [{ toolCallId: "a", reason: { a: 1 } }] }, 'The "reason" of a decision must be text'],
])("an invalid decision is refused: %j", async (options, sentence) => {
  await expect(agentOf({}).resume("r", { store: memoryStore(), ...options } as ResumeOptions)).rejects.toThrow(
    sentence,
  );
});

test("options may be an instance of a class: its methods are not options, and inherited options are checked", async () => {
  function Settings(this: { maxSteps?: number }): void {
    this.maxSteps = 2;
  }
  // The method of a class as older compilers emit it is enumerable.
  Settings.prototype.describe = () => "two steps";
  const settings = Reflect.construct(Settings, []) as RunOptions;
  expect((await agentOf({}).run("Hi", settings)).text).toBe("Hello.");
  expect((await agentOf(Object.create(settings)).run("Hi", Object.create(settings))).text).toBe("Hello.");
  await expect(agentOf({}).run("Hi", Object.create({ maxSteps: 0 }))).rejects.toThrow('"maxSteps" must be');
});
