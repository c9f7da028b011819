// A tool may return parts: text, images and other files. The model sees files as files, in this turn; the record keeps their bytes once.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { audio, file, image, text } from "../../src/doors/tools.ts";
import { Agent, type AgentOptions, memoryStore, reactDriver, sqliteStore, tool } from "../../src/index.ts";
import { type ScriptEntry, type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUg".padEnd(4000, "A"), "base64");
const base64 = png.toString("base64");
const call = { toolCalls: [{ name: "look", input: {} }] };

interface Looking {
  readonly agent: Agent;
  readonly model: ScriptedModel;
}

function looking(
  returned: unknown,
  { script = [call, "Seen."], ...options }: Partial<AgentOptions> & { script?: ScriptEntry[] } = {},
): Looking {
  const model = scriptedModel(script);
  const look = tool({ name: "look", execute: () => returned });
  return { agent: new Agent({ model, tools: [look], ...options }), model };
}

const contentSeen = ({ model }: Looking, request: number) =>
  model.requests[request]?.messages.filter(({ role }) => role === "tool").map(({ content }) => content);

test("an image of a tool reaches the model as a file beside its text", async () => {
  const at = looking([text("a page"), image(png, "image/png")]);
  const { steps } = await at.agent.run("Look.");
  const [content] = contentSeen(at, 1) ?? [];
  expect(content).toEqual([
    { type: "text", text: "a page" },
    { type: "file", mediaType: "image/png", data: { type: "data", data: base64 } },
  ]);
  const [result] = steps[0]?.toolResults ?? [];
  expect(result?.output).toEqual([text("a page"), image(png, "image/png")]);
  expect(result?.content).toEqual(result?.output);
});

test.each([
  ["one part that is no list", image(png, "image/png")],
  ["base64 text", [image(base64, "image/png")]],
  ["a data: URL", [image(`data:image/png;base64,${base64}`)]],
  ["parts as OpenAI writes them", [{ type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } }]],
  [
    "parts that a generator yields",
    (async function* () {
      yield image(png, "image/png");
    })(),
  ],
])("%s arrives as an image", async (_, returned) => {
  const at = looking(returned);
  await at.agent.run("Look.");
  expect(contentSeen(at, 1)).toEqual([
    [{ type: "file", mediaType: "image/png", data: { type: "data", data: base64 } }],
  ]);
});

test.each([
  [[{ type: "file", name: "a.txt" }]],
  [[{ type: "text", text: "x", id: 1 }]],
  [[text("x"), { type: "text" }]],
  [[]],
  [{ type: "file", file: "a.txt" }],
])("data that resembles parts stays data: %j", async (returned) => {
  const at = looking(returned);
  await at.agent.run("Look.");
  expect(contentSeen(at, 1)).toEqual([JSON.stringify(returned)]);
});

test("text parts share the byte budget of a result, and files are not cut", async () => {
  const at = looking([text("x".repeat(100_000)), image(png, "image/png"), text("end")]);
  const { steps } = await at.agent.run("Look.");
  const [content] = contentSeen(at, 1) as unknown as { type: string; text: string }[][];
  expect(content?.[0]?.text).toMatch(/x\n\[clipped, \d+ bytes\]$/);
  expect(content?.[1]).toMatchObject({ type: "file", data: { data: base64 } });
  expect(steps[0]?.toolResults[0]?.clippedBytes).toBeGreaterThan(30_000);
  expect(steps[0]?.toolResults[0]?.output).toEqual([text("x".repeat(100_000)), image(png, "image/png"), text("end")]);
});

test("a file beyond the limit of a result is named, not sent", async () => {
  const at = looking([text("big"), file(Buffer.alloc(9 * 1024 * 1024), "application/pdf", { filename: "a.pdf" })]);
  await at.agent.run("Look.");
  expect(contentSeen(at, 1)).toEqual(["big\n[file, 12582998 bytes, left out: a result may have 8388608 bytes]"]);
});

test("a model that takes no such file gets a marker", async () => {
  const model = scriptedModel([call, "Seen."], { provider: "ollama" });
  const look = tool({ name: "look", execute: () => [audio(png, "audio/wav"), text("a sound")] });
  await new Agent({ model, tools: [look] }).run("Listen.");
  expect(model.requests[1]?.messages.at(-1)?.content).toBe(
    "[audio audio/wav, 3 kB, not shown: this model takes no audio]\na sound",
  );
});

test("a provider without files in tool results gets them in one user message behind all results", async () => {
  const calls = {
    toolCalls: [call.toolCalls[0], call.toolCalls[0]].map((each) => ({ name: "look", input: {}, ...each })),
  };
  const model = scriptedModel([calls, "Seen."], { provider: "openai.chat" });
  const look = tool({ name: "look", execute: () => image(png, "image/png") });
  await new Agent({ model, tools: [look] }).run("Look.");
  const shown = { type: "file", mediaType: "image/png", data: { type: "data", data: base64 } };
  expect(model.requests[1]?.messages.slice(2).map(({ role, content }) => ({ role, content }))).toEqual([
    { role: "tool", content: "[image image/png, 3 kB, shown below]" },
    { role: "tool", content: "[image image/png, 3 kB, shown below]" },
    {
      role: "user",
      content: [text('[returned by the tool "look"]'), shown, text('[returned by the tool "look"]'), shown],
    },
  ]);
});

test("a tool's image at a URL that no one fetches is a marker, and the run goes on", async () => {
  const model = scriptedModel([call, "Seen."], { provider: "ollama" });
  const look = tool({ name: "look", execute: () => image("https://files.example/cat.png?key=secret") });
  const { text: answer } = await new Agent({ model, tools: [look] }).run("Look.");
  expect(answer).toBe("Seen.");
  const sent = JSON.stringify(model.requests[1]?.messages);
  expect(sent).toContain("not shown");
  expect(sent).not.toContain("secret");
});

test("a tool's image at a URL is downloaded by the agent's download", async () => {
  const download = async () => ({ data: png, mediaType: "image/png" });
  const model = scriptedModel([call, "Seen."], { provider: "ollama" });
  const look = tool({ name: "look", execute: () => image(new URL("https://files.example/cat.png")) });
  await new Agent({ model, tools: [look], download }).run("Look.");
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    role: "user",
    content: [{ type: "text" }, { type: "file", mediaType: "image/png", data: { type: "data", data: png } }],
  });
});

test("a ReAct observation has its files", async () => {
  const at = looking([text("a page"), image(png, "image/png")], {
    driver: reactDriver(),
    script: ["Action: look\nAction Input: {}", "Final Answer: Seen."],
  });
  await at.agent.run("Look.");
  expect(at.model.requests[1]?.messages.at(-1)).toMatchObject({
    role: "user",
    content: [text("Observation: a page"), { type: "file", mediaType: "image/png" }],
  });
});

test.each(["digest", "full"] as const)("under %s the next turn sees a marker, not the file", async (toolHistory) => {
  const at = looking([text("a page"), image(png, "image/png")], { toolHistory, script: [call, "Seen.", "Again."] });
  const session = memoryStore().session("s");
  await at.agent.run("Look.", { session });
  await at.agent.run("And?", { session });
  expect(JSON.stringify(at.model.requests[2]?.messages)).not.toContain(base64.slice(0, 100));
  expect(contentSeen(at, 2)?.[0]).toMatch(/^a page\n\[image image\/png, 3 kB, not shown/);
});

test("a run on a state shows the files of its own results and not those of earlier runs", async () => {
  const at = looking(image(png, "image/png"), { script: [call, "Seen.", call, "Seen again."] });
  const first = await at.agent.run("Look.");
  const next = await at.agent.execute(first.state.withUserMessage("Again."));
  expect(contentSeen(at, 3)).toEqual([
    "[image image/png, 3 kB, not shown again]",
    [{ type: "file", mediaType: "image/png", data: { type: "data", data: base64 } }],
  ]);
  expect(JSON.stringify(next.toJSON()).split(base64)).not.toHaveLength(1);
});

test("the record gives back the parts, the value and the model's input", async () => {
  const store = memoryStore();
  const at = looking([text("a page"), image(png, "image/png")], { script: [call, call, "Seen."] });
  const { runId } = await at.agent.run("Look.", { session: store.session("s") });
  const parts = [text("a page"), image(png, "image/png")];
  const query = await store.query({ session: "s" });
  expect(query.toolSummary()[0]?.results).toEqual([parts, parts]);
  expect(query.filter({ role: "tool" })[0]?.content).toEqual(parts);
  const input = await store.runs.input(runId, 2);
  expect(input?.messages.at(-1)?.content).toEqual(contentSeen(at, 1)?.[0]);
});

test("a resumed run sends the parts of finished calls again, and they are its results", async () => {
  const store = memoryStore();
  const session = store.session("s");
  const script: ScriptEntry[] = [
    {
      toolCalls: [
        { name: "look", input: {} },
        { name: "book", input: {} },
      ],
    },
    "Booked.",
  ];
  const model = scriptedModel(script);
  const look = tool({ name: "look", execute: () => [text("a page"), image(png, "image/png")] });
  const book = tool({ name: "book", needsApproval: true, execute: () => "booked" });
  const agent = new Agent({ model, tools: [look, book] });
  const { runId, approvals } = await agent.run("Book.", { session });
  const result = await agent.resume(runId, { store, approve: approvals });
  expect(result.steps[0]?.toolResults[0]?.output).toEqual([text("a page"), image(png, "image/png")]);
  expect(contentSeen({ agent, model }, 1)?.[0]).toMatchObject([text("a page"), { type: "file" }]);
});

test.each([
  [() => image(5 as unknown as string), "image() needs bytes, base64 text or a URL; found 5."],
  [() => image(png, "text/plain"), 'image() needs a media type such as "image/png"'],
  [() => audio("https://files.example/a.wav"), "audio() needs bytes or base64 text: no model fetches sounds at URLs."],
  [() => file(png, "pdf"), 'file() needs a media type such as "application/pdf"'],
  [() => text(5 as unknown as string), "text() needs text; found 5."],
])("a part with unfit arguments is refused (%#)", (make, sentence) => {
  expect(make).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  expect(make).toThrow(sentence);
});

test("a SQLite file has the bytes of two equal results once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "offstage-"));
  const path = join(folder, "parts.db");
  await using store = sqliteStore({ path });
  const at = looking([text("a page"), image(png, "image/png")], { script: [call, call, "Seen."] });
  await at.agent.run("Look.", { session: store.session("s") });
  await store.close();
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare("select content from contents where content like ?").all(`%${base64.slice(0, 500)}%`);
  const messages = database.prepare("select parts, content from messages where role = 'tool'").all();
  database.close();
  expect(rows).toHaveLength(1);
  expect(messages).toHaveLength(2);
  expect(JSON.stringify(messages)).not.toContain(base64.slice(0, 500));
});
