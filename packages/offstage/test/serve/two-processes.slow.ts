// Two servers, two processes, one SQLite file: a client that is cut off from one continues at the other.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { UIMessage } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sqliteStore } from "../../src/index.ts";
import { chunksOf, readMessage, said, shape, textsOf } from "./serving.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-serve-"));
const store = sqliteStore({ path: join(folder, "chat.db") });
const processes: ChildProcess[] = [];
let first = "";
let second = "";

async function start(): Promise<string> {
  const script = fileURLToPath(new URL("./server-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"] });
  processes.push(child);
  const port = await new Promise<string>((resolve) =>
    child.stdout?.once("data", (data) => resolve(String(data).trim())),
  );
  return `http://127.0.0.1:${port}`;
}

beforeAll(async () => {
  [first, second] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  for (const child of processes) child.kill();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (server: string, session: string) =>
  fetch(server, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(said(session, "Hello")),
  });
const release = (session: string) => writeFileSync(join(folder, session), "");

test.for(["conversation", "trace"])(
  "cut at any chunk and resumed in the other process, the message is the same (%s)",
  async (show, { expect }) => {
    const whole = `${show}-whole`;
    release(whole);
    const uncut = await readMessage(await chunksOf(await ask(`${first}/${show}`, whole)));
    expect(textsOf(uncut)).toEqual(["I look first. ", "Then I wait. ", "Here is the answer."]);
    for (let cut = 0; cut < 12; cut++) {
      const session = `${show}-${cut}`;
      const response = await ask(`${first}/${show}`, session);
      // The run waits in its second step, so only the chunks before that arrive.
      const before = await chunksOf(response, Math.min(cut, show === "trace" ? 11 : 9));
      expect(before.length).toBeLessThanOrEqual(cut);
      const again = await fetch(`${second}/${show}/${session}/stream`);
      expect(again.status).toBe(200);
      setTimeout(() => release(session), 20);
      expect(shape(await readMessage(await chunksOf(again)))).toEqual(shape(uncut));
    }
  },
);

test("a run is stopped from the other process, and both know", async () => {
  const response = await ask(`${first}/conversation`, "stopped");
  await chunksOf(response, 1);
  const stop = await fetch(`${second}/conversation/stopped/stream`, { method: "DELETE" });
  expect(stop.status).toBe(204);
  await expect.poll(async () => (await store.session("stopped").runs())[0]?.status, { timeout: 3000 }).toBe("stopped");
  const [run] = await store.session("stopped").runs();
  expect(run?.reason).toBe("stop-requested");
  await expect.poll(async () => (await fetch(`${second}/conversation/stopped/stream`)).status).toBe(204);
});

test("a run that has ended is in the conversation of both", async () => {
  release("ended");
  const message = await readMessage(await chunksOf(await ask(`${first}/conversation`, "ended")));
  expect((await fetch(`${second}/conversation/ended/stream`)).status).toBe(204);
  for (const server of [first, second]) {
    const [, answer] = (await (await fetch(`${server}/conversation/ended`)).json()) as UIMessage[];
    expect(answer).toEqual({
      id: message.id,
      role: "assistant",
      parts: [{ type: "text", text: "Here is the answer." }],
    });
  }
});

test("when the process of a run is killed, its reader in the other one sees it go on there", async () => {
  const response = await ask(`${first}/conversation`, "killed");
  await chunksOf(response, 3);
  const reading = fetch(`${second}/conversation/killed/stream`).then((again) => chunksOf(again));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const dead = new Promise((resolve) => processes[0]?.once("exit", resolve));
  processes[0]?.kill("SIGKILL");
  await dead;
  release("killed");
  const message = await readMessage(await reading);
  expect(textsOf(message).at(-1)).toBe("Here is the answer.");
  expect((await store.session("killed").runs()).map(({ status }) => status)).toEqual(["completed"]);
}, 60_000);
