// offstage chat, at a terminal that is not there.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inertText } from "../../src/base/inert.ts";
import { answerFrom, answerHint } from "../../src/cli/agents/answers.ts";
import { StreamedText } from "../../src/cli/chat/streamed-text.ts";
import type { Io } from "../../src/cli/io.ts";
import { redactor } from "../../src/index.ts";
import { fakeOpenAI } from "../providers/fake-openai.ts";
import { offstage } from "./cli-world.ts";
import { atTerminal, keys } from "./fake-terminal.ts";
import { secret } from "./shop-store.ts";

let cwd: string;
const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

// The agent acts on what the last message says.
const module = `
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, tool } from "${source("index.ts")}";
import { scriptedModel } from "${source("testing/index.ts")}";
const pay = tool({ name: "pay", input: { type: "object", properties: { euros: { type: "number" } } }, needsApproval: true, execute: ({ euros }) => "paid " + euros });
const seat = tool({ name: "seat", execute: async (_, { ask }) => {
  const { seat, declined } = await ask({ message: "Which seat?", schema: { type: "object", properties: { seat: { type: "string", pattern: "^[0-9]+[A-F]$" } }, required: ["seat"] } });
  return declined ? "no seat" : "seat " + seat;
} });
const slow = tool({ name: "slow", execute: (_, { signal }) => sleep(5000, "done", { signal }) });
const brief = tool({ name: "brief", execute: () => sleep(400, "done") });
const model = scriptedModel(({ messages }) => {
  const last = messages.at(-1);
  if (last.role === "tool") return "It says: " + last.content;
  const name = ["pay", "seat", "slow", "brief"].find((each) => last.content.includes(each));
  if (last.content.includes("fail")) return new Error("The provider is down.");
  if (name !== undefined) return { text: "Wait.", toolCalls: [{ name, id: name + messages.length, input: name === "pay" ? { euros: 80 } : {} }] };
  return "You said: " + last.content;
});
export default [new Agent({ name: "clerk", model, tools: [pay, seat, slow, brief] }), new Agent({ name: "other", model })];`;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "offstage-chat-"));
  writeFileSync(join(cwd, "agent.ts"), module);
});
afterEach(() => rmSync(cwd, { recursive: true }));

const begin = (width?: number) =>
  atTerminal(["chat", "anna", "--agent", "agent.ts"], { cwd, ...(width !== undefined && { width }) });
const ask = (...words: string[]) => offstage(words, { cwd });

test("a conversation streams, is kept, and goes on the next time", async () => {
  const first = begin();
  first.type(`Hello.${keys.enter}`);
  await first.shows("You said: Hello.");
  await first.shows("1 step");
  first.type(keys.leave);
  expect(await first.code).toBe(0);
  expect(first.err()).toContain("offstage show anna");
  const second = begin();
  await second.shows("session anna · 2 messages");
  second.type(keys.leave);
  expect(await second.code).toBe(0);
  expect((await ask("show", "anna")).out).toContain("You said: Hello.");
});

test("an approval is asked for: yes runs the call, an edit changes it, no tells the model why", async () => {
  const terminal = begin();
  terminal.type(`pay${keys.enter}`);
  await terminal.shows("clerk wants to call pay");
  await terminal.shows('"euros": 80');
  terminal.type(`y${keys.enter}`);
  await terminal.shows('✓ pay {"euros":80}');
  await terminal.shows("It says: paid 80");
  terminal.type(`pay again${keys.enter}`);
  await terminal.shows("pay again");
  await expect.poll(() => terminal.screen().match(/wants to call/g)?.length).toBe(2);
  terminal.type(`e${keys.enter}`);
  await terminal.shows('input › {"euros":80}');
  terminal.type(`${keys.erase.repeat(3)}8}${keys.enter}`);
  await terminal.shows('✓ pay {"euros":8}');
  await expect.poll(() => terminal.screen()).toContain("2 steps");
  terminal.type(`pay more${keys.enter}`);
  await expect.poll(() => terminal.screen().match(/wants to call/g)?.length).toBe(3);
  terminal.type(`n${keys.enter}`);
  await terminal.shows("why not?");
  terminal.type(`Too much.${keys.enter}`);
  await terminal.shows("■ pay");
  await terminal.shows("Reason: Too much.");
  terminal.type(keys.leave);
  expect(await terminal.code).toBe(0);
});

test("a question is asked, an answer that does not fit is asked for again, and what waits is asked the next time", async () => {
  const first = begin();
  first.type(`seat${keys.enter}`);
  await first.shows("Which seat?");
  first.type(keys.leave);
  await first.shows("It keeps waiting");
  first.type(keys.leave);
  expect(await first.code).toBe(0);
  expect((await ask("inbox")).out).toContain("offstage answer");
  const second = begin();
  await second.shows("Which seat?");
  second.type(`somewhere${keys.enter}`);
  await expect.poll(() => second.screen().match(/Which seat\?/g)?.length).toBe(2);
  second.type(`12A${keys.enter}`);
  await second.shows("It says: seat 12A");
  second.type(keys.leave);
  expect(await second.code).toBe(0);
});

test("Esc stops the run and keeps the session", async () => {
  const terminal = begin();
  terminal.type(`slow${keys.enter}`);
  await terminal.shows("slow …");
  terminal.type(keys.escape);
  await terminal.shows("■ stopped");
  terminal.type(`Hello.${keys.enter}`);
  await terminal.shows("You said: Hello.");
  terminal.type(keys.leave);
  expect(await terminal.code).toBe(0);
  expect((await ask("runs", "anna", "--json")).records.map(({ status }) => status)).toEqual(["completed", "stopped"]);
});

test("a line that is typed while a run works joins it, and one that comes too late is a turn of its own", async () => {
  const terminal = begin();
  terminal.type(`brief${keys.enter}`);
  await terminal.shows("brief …");
  terminal.type(`I meant Texas.${keys.enter}`);
  await terminal.shows("› I meant Texas.");
  await terminal.shows("You said: I meant Texas.");
  await terminal.shows("2 steps");
  terminal.type(`Hello.${keys.enter}`);
  await terminal.shows("You said: Hello.");
  terminal.type(keys.leave);
  expect(await terminal.code).toBe(0);
  const { records } = await ask("show", "anna", "--json");
  expect(records.map(({ turn, message }) => [turn, (message as { content: string }).content])).toEqual([
    [1, "brief"],
    [1, "I meant Texas."],
    [1, "You said: I meant Texas."],
    [2, "Hello."],
    [2, "You said: Hello."],
  ]);
});

test("a failed run is told, and the conversation goes on, at 40 columns", async () => {
  const terminal = begin(40);
  terminal.type(`fail ${"and more words ".repeat(8)}${keys.enter}`);
  await terminal.shows("The provider is down.");
  terminal.type(`ok${keys.enter}`);
  await terminal.shows("You said: ok");
  terminal.type(`${keys.cancel}`);
  expect(await terminal.code).toBe(0);
});

test("answer answers a question from the terminal", async () => {
  await offstage(["chat", "anna", "--agent", "agent.ts"], { cwd, input: "seat\n" });
  const { records } = await ask("inbox", "--json");
  expect(records).toMatchObject([{ kind: "question", question: "Which seat?", schema: { type: "object" } }]);
  const id = String(records[0]?.toolCallId);
  expect(await ask("answer", "last", id, "nowhere", "--agent", "agent.ts")).toMatchObject({ code: 2 });
  expect((await ask("answer", "last", id, "--agent", "agent.ts")).err).toContain("needs an answer, or --decline");
  expect((await ask("approve", "last", "--agent", "agent.ts")).code).toBe(1);
  expect((await ask("answer", "last", id, "7C", "--agent", "agent.ts")).out).toContain("It says: seat 7C");
});

describe("without a terminal", () => {
  test("each line of standard input is a message", async () => {
    const { code, out, records } = await offstage(["chat", "anna", "--agent", "agent.ts", "--json"], {
      cwd,
      input: "One\nTwo\n",
    });
    expect(code).toBe(0);
    expect(records.map(({ text }) => text)).toEqual(["You said: One", "You said: Two"]);
    expect(out).not.toContain("1 step");
    expect((await offstage(["chat", "last", "--agent", "agent.ts"], { cwd, input: "Three" })).out).toBe(
      "  You said: Three\n",
    );
  });

  test("a run that fails is exit code 1, and one that waits says so", async () => {
    expect(await offstage(["chat", "--agent", "agent.ts"], { cwd, input: "fail" })).toMatchObject({
      code: 1,
      err: expect.stringContaining("model-failed:"),
    });
    expect(await offstage(["chat", "--agent", "agent.ts"], { cwd, input: "pay" })).toMatchObject({
      code: 0,
      err: expect.stringContaining("offstage inbox"),
    });
  });

  test.for([
    [["chat"], "needs one of"],
    [["chat", "--demo", "--model", "x/y"], "needs one of"],
    [["chat", "--model", "gpt"], "takes a provider and a model"],
    [["chat", "--model", "openai/gpt-5-mini"], "OPENAI_API_KEY, which is not set"],
    [["chat", "--agent", "agent.ts", "--name", "nobody"], 'has no agent "nobody", only "clerk", "other"'],
    [["chat", "--demo"], "standard input is empty"],
  ])("%j is wrong usage", async ([words, sentence]) => {
    const { code, err } = await offstage(words as string[], { cwd });
    expect(code).toBe(2);
    expect(err).toContain(sentence);
  });
});

test("a model is found by its name, with the key of the environment, on any server that speaks as OpenAI does", async () => {
  await using server = await fakeOpenAI([{ text: ["Hello from ", "the server."] }]);
  const folder = fileURLToPath(new URL("../..", import.meta.url));
  const store = join(cwd, "offstage.db");
  const chat = (words: string[], env: Record<string, string>) =>
    offstage(["chat", "--store", store, ...words], { cwd: folder, env, input: "Hello" });
  const any = await chat(["--model", "my/model", "--base-url", `${server.url}/v1`, "-i", "Be brief."], {
    OPENAI_API_KEY: "key",
  });
  expect(any).toMatchObject({ code: 0, out: "  Hello from the server.\n" });
  // Ollama wants no key, and this server does.
  const ollama = await chat(["--model", "ollama/llama"], { OLLAMA_HOST: new URL(server.url).host });
  expect(ollama).toMatchObject({ code: 1, err: expect.stringContaining("You didn't provide an API key") });
});

test("streamed text is wrapped, inert and without secrets, however it is cut into pieces", () => {
  const text = `The key is ${secret} and password: hunter2\n\n\u001b[31m${"long".repeat(20)} end`;
  for (const size of [1, 3, 7, 1000]) {
    let out = "";
    const clean = redactor();
    const io = { width: 30, block: (part: string) => inertText(clean(part)) } as Io;
    const streamed = new StreamedText(io, (part) => {
      out += part;
    });
    for (let at = 0; at < text.length; at += size) streamed.add(text.slice(at, at + size));
    streamed.end();
    expect(out).not.toContain(secret.slice(0, 14));
    expect(out).not.toContain("hunter2");
    expect(out).not.toContain("\u001b");
    expect(out.replace(/\s+/g, " ")).toContain("[redacted] ␛[31mlong");
    for (const line of out.split("\n")) expect(line.length).toBeLessThan(30);
    expect(out).not.toMatch(/ \n/);
  }
});

test("what is typed becomes the value that the question wants", () => {
  const seat = { type: "object", properties: { seat: { type: "string" } } };
  const day = { type: "object", properties: { day: { type: "string", enum: ["Monday", "Thursday"] } } };
  expect(answerFrom("12A", seat)).toEqual({ seat: "12A" });
  expect(answerFrom('{"seat":"12A"}', seat)).toEqual({ seat: "12A" });
  expect(answerFrom("thu", day)).toEqual({ day: "Thursday" });
  expect(answerFrom("yes", { type: "boolean" })).toBe(true);
  expect(answerFrom("5", { type: "number" })).toBe(5);
  expect(answerFrom("5", { type: "string" })).toBe("5");
  expect(answerFrom("some text", undefined)).toBe("some text");
  expect([answerHint(day), answerHint({ type: "boolean" }), answerHint(seat), answerHint(undefined)]).toEqual([
    "day: Monday, Thursday",
    "yes or no",
    "seat",
    "",
  ]);
});
