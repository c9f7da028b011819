// Misuse has one error class: whatever a public function is called with, no bare TypeError or RangeError leaves it.
import { expect, test } from "vitest";
import * as criteria from "../src/doors/criteria.ts";
import * as memory from "../src/doors/memory.ts";
import * as bpe from "../src/doors/peers/bpe.ts";
import * as otel from "../src/doors/peers/otel.ts";
import * as postgres from "../src/doors/peers/postgres.ts";
import * as redis from "../src/doors/peers/redis.ts";
import * as query from "../src/doors/query.ts";
import * as driver from "../src/doors/store-driver.ts";
import * as tracing from "../src/doors/tracing.ts";
import * as offstage from "../src/index.ts";
import * as testing from "../src/testing/index.ts";

const { Agent, AgentBuilder, AgentState, isOffstageError, MessageQuery, memoryStore, PersistentSession, TraceContext } =
  offstage;
const model = testing.scriptedModel(() => "Hello.");
const agent = new Agent({ model });
const store = memoryStore();
const session = store.session("misused");
const state = AgentState.empty();
const builder = AgentBuilder.base().withModel(model);
const messages = new MessageQuery([]);
const silent = { write: () => true };

type Call = (value: never) => unknown;

/** The functions and classes of a door. A function gets the value twice: as its subject and as its options. */
function callsOf(door: object): [string, Call][] {
  const functions = Object.entries(door).filter(([, given]) => typeof given === "function");
  return functions.map(([name, given]) => [
    name,
    /^[A-Z]/.test(name) ? (value: never) => new given(value) : (value: never) => given(value, value),
  ]);
}

/** The methods of an object, each called with the value alone. */
function methodsOf(owner: string, subject: object, names: readonly string[]): [string, Call][] {
  return names.map((name) => [
    `${owner}.${name}`,
    (value: never) => (subject as Record<string, Call>)[name]?.call(subject, value),
  ]);
}

const doors = { ...offstage, ...criteria, ...memory, ...query, ...tracing, ...driver, ...testing };
const calls: [string, Call][] = [
  ...callsOf({ ...doors, ...bpe, ...otel, ...postgres, ...redis }),
  ...methodsOf("agent", agent, ["run", "execute", "resume", "asTool"]),
  ["agent.run options", (value) => agent.run("Hello?", value)],
  ["agent.stream", (value) => agent.stream(value).result],
  ["agent.stream options", (value) => agent.stream("Hello?", value).result],
  ["agent.resume options", (value) => agent.resume("no-run", value)],
  ["agent.resumeStream", (value) => agent.resumeStream(value).result],
  ...methodsOf(
    "builder",
    builder,
    Object.getOwnPropertyNames(AgentBuilder.prototype).filter((name) => name.startsWith("with")),
  ),
  ...methodsOf("AgentState", AgentState, ["fromJSON"]),
  ...methodsOf("state", state, ["withUserMessage", "withMessages", "withMessageStore", "withMetadata", "section"]),
  ["state.withUserMessage options", (value) => state.withUserMessage("Hello?", value)],
  ...methodsOf("Messages", offstage.Messages, ["from"]),
  ...methodsOf("MessageStore", offstage.MessageStore, ["of"]),
  ...methodsOf("MessageQuery", MessageQuery, ["from"]),
  ["MessageQuery options", (value) => new MessageQuery([], value)],
  ...methodsOf("messages", messages, ["filter", "where", "first", "last", "slice", "export", "exportTo"]),
  ["messages.export options", (value) => messages.export("json", value)],
  ["messages.print", (value) => messages.print(value, { stream: silent })],
  ["messages.print options", (value) => messages.print("stats", Object(value) === value ? { stream: silent } : value)],
  ...methodsOf("PersistentSession", PersistentSession, ["inMemory", "on"]),
  ["PersistentSession.persistent", (value) => PersistentSession.persistent(value, { path: ":memory:" })],
  ["PersistentSession.inMemory options", (value) => PersistentSession.inMemory("id", value)],
  ...methodsOf("PersistentMemory", offstage.PersistentMemory, ["on", "over"]),
  ...methodsOf("store", store, ["session", "namespace", "prune"]),
  ...methodsOf("store.sessions", store.sessions, ["list", "get", "delete"]),
  ...methodsOf("store.runs", store.runs, ["list", "get", "value"]),
  ...methodsOf("store.spans", store.spans, ["list", "add"]),
  ...methodsOf("session", session, [
    "getItems",
    "addItems",
    "addItem",
    "replaceItems",
    "runs",
    "run",
    "query",
    "branch",
  ]),
  ["session.branch options", (value) => session.branch(0, value)],
  ...methodsOf("TraceContext", TraceContext, ["open", "fromHeaders", "withTrace"]),
  ["withTrace options", (value) => offstage.withTrace("work", value, () => 1)],
  ["withSpan options", (value) => offstage.withSpan("work", value, () => 1)],
];

// Processors and redactSpan() get their values from Offstage; the constructors of these classes are private.
const isLeft = (name: string): boolean => /^(append|apply|clear)|^(redactSpan|AgentState|TraceContext)$/.test(name);

test.for(calls.filter(([name]) => !isLeft(name)))("%s throws no bare error", async ([, call]) => {
  for (const value of [null, 5, "text", true, [], {}, () => undefined]) {
    const error = await thrownBy(() => call(value as never));
    if (error !== undefined) expect(error).toSatisfy((thrown) => isOffstageError(thrown));
  }
});

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}
