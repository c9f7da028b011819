// What a store keeps once: files by their hash, and the parts of model inputs. And what it does not keep, if it is told not to.
import { expect, test } from "vitest";
import { Agent, type Message, tool } from "../../src/index.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import type { StoreDriver } from "../../src/sessions/ports/store-driver.ts";
import { createStore } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { rowsIn } from "../support/stored-rows.ts";

const bytes = `data:image/png;base64,${"iVBORw0KGgo".repeat(2_000)}`;
const withImage = (text: string): Message =>
  ({
    role: "user",
    content: [
      { type: "text", text },
      { type: "image_url", image_url: { url: bytes } },
    ],
  }) as unknown as Message;

async function valuesOf(driver: StoreDriver, table: string, column: string): Promise<string[]> {
  return (await rowsIn(driver)).flatMap((each) => (each.table === table ? [String(each.row[column])] : []));
}

test("an image is kept once per session, however often it is sent, and by whichever process", async () => {
  const driver = memoryDriver();
  const [store, other] = [createStore(driver), createStore(driver)];
  const agent = new Agent({ model: scriptedModel(() => "seen") });
  for (const each of [store, other, store]) await agent.run(withImage("Look."), { session: each.session("a") });
  await store.session("b").addItems([withImage("one"), withImage("two")]);
  const whole = JSON.stringify(await rowsIn(driver));
  expect(whole.split("iVBORw0KGgo".repeat(2_000)).length - 1).toBe(2);
  for (const parts of await valuesOf(driver, "messages", "parts")) expect(parts.length).toBeLessThan(300);
  expect(await other.session("a").getItems()).toHaveLength(6);
  expect((await other.session("b").getItems())[1]).toEqual(withImage("two"));
  const [run] = await other.runs.list({ limit: 1 });
  const input = await other.runs.input(run?.runId ?? "", 1);
  expect(JSON.stringify(input?.messages).split("iVBORw0KGgo".repeat(2_000)).length - 1).toBe(3);
});

const look = tool({ name: "look", execute: () => "seen" });

async function run(keepInput: "all" | "hashes" | false, instructions = "Be brief.") {
  const driver = memoryDriver();
  const store = createStore(driver, { keepInput });
  const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
  const { runId } = await new Agent({ model, tools: [look], instructions }).run("hi", { session: store.session("s") });
  const refs = (await valuesOf(driver, "steps", "input_ref")).sort();
  return { refs, contents: await valuesOf(driver, "contents", "content"), input: await store.runs.input(runId, 1) };
}

test('with keepInput "hashes" equal inputs are recognised, and nothing of them is kept', async () => {
  const [all, one, same, other] = [
    await run("all"),
    await run("hashes"),
    await run("hashes"),
    await run("hashes", "Be long."),
  ];
  expect(all.contents.join()).toContain("Be brief.");
  expect(one.refs).toEqual(all.refs);
  expect(one.refs).toEqual(same.refs);
  expect(one.refs).not.toEqual(other.refs);
  expect(one.contents).toEqual([]);
  // The conversation is there anyway.
  expect({ ...one.input }).toMatchObject({ isIncomplete: true, modelId: "scripted", tools: [] });
  expect(one.input?.messages).toEqual([{ role: "user", content: "hi" }]);
});

test("with keepInput false no input is recorded", async () => {
  const { refs, contents, input } = await run(false);
  expect(refs).toEqual(["null", "null"]);
  expect(contents).toEqual([]);
  expect(input).toBeUndefined();
});

test("headers of the model settings are never recorded", async () => {
  const driver = memoryDriver();
  const modelSettings = { headers: { authorization: "secret-key" }, temperature: 0 };
  const agent = new Agent({ model: scriptedModel(["done"]), modelSettings });
  await agent.run("hi", { session: createStore(driver).session("s") });
  const whole = JSON.stringify(await rowsIn(driver));
  expect(whole).toContain("temperature");
  expect(whole).not.toContain("secret-key");
});

test("model inputs are redacted like messages", async () => {
  const driver = memoryDriver();
  const redact = <T>(message: T): T => JSON.parse(JSON.stringify(message).replaceAll("Zaphod", "***"));
  const store = createStore(driver, { redact });
  const named = tool({ name: "look", description: "Finds Zaphod.", execute: () => "Zaphod is here" });
  const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "It is Zaphod."]);
  const agent = new Agent({ model, tools: [named], instructions: "You serve Zaphod." });
  const { runId } = await agent.run("Who am I? Zaphod?", { session: store.session("s") });
  expect(JSON.stringify(await rowsIn(driver))).not.toContain("Zaphod");
  const input = await store.runs.input(runId, 2);
  expect(input?.messages.map(({ content }) => content)).toEqual([
    "You serve ***.",
    "Who am I? ***?",
    null,
    "*** is here",
  ]);
});
