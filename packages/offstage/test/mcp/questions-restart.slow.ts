// A question of an MCP server survives kill -9: another process, with another connection, completes the call.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createMcpHandler, fromJsonSchema, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../../src/index.ts";
import type { CrashPoint } from "../../src/testing/index.ts";
import { type HttpServer, serveHttp } from "./http-server.ts";
import type { QuestionJob } from "./question-worker.ts";

const worker = fileURLToPath(new URL("question-worker.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "offstage-mcp-questions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A server that asks for a seat, then books it. */
function bookingServer(legs: string[]): Promise<HttpServer> {
  const inputSchema = fromJsonSchema({ type: "object", properties: {} } as never);
  const requestedSchema = {
    type: "object" as const,
    properties: { seat: { type: "string" as const } },
    required: ["seat"],
  };
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "t", version: "1" }, { capabilities: { tools: {} } });
    server.registerTool("book", { inputSchema }, (_input, { mcpReq }) => {
      const state = mcpReq.requestState<string>();
      legs.push(state === undefined ? "asked" : `booked with ${state}`);
      if (state === undefined) {
        const inputRequests = { seat: inputRequired.elicit({ message: "Which seat?", requestedSchema }) };
        return inputRequired({ inputRequests, requestState: `reservation-${legs.length}` });
      }
      const { seat } = mcpReq.inputResponses as { seat: { content: { seat: string } } };
      return { content: [{ type: "text", text: `Seat ${seat.content.seat}.` }] };
    });
    return server;
  });
  return serveHttp((request) => handler.fetch(request));
}

/** Runs a process to its end, and returns what it printed. */
async function inNewProcess(job: QuestionJob) {
  const child = spawn(process.execPath, [worker, JSON.stringify(job)], { stdio: ["ignore", "pipe", "inherit"] });
  const printed = (await text(child.stdout)).trim();
  return printed === "" ? undefined : JSON.parse(printed);
}

/** Starts a process that waits with its run, and kills it. */
async function killedWhileWaiting(job: QuestionJob) {
  const child = spawn(process.execPath, [worker, JSON.stringify({ ...job, lingers: true })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await new Promise<string>((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk))));
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  return JSON.parse(line);
}

test("a run whose process was killed while it waited goes on in another one, and no leg is repeated", async () => {
  const legs: string[] = [];
  await using server = await bookingServer(legs);
  const job = { url: server.url, path: join(folder, "waiting.db") };
  const asked = await killedWhileWaiting(job);
  expect(asked).toMatchObject({ status: "waiting", approvals: [{ kind: "question", message: "Which seat?" }] });
  const { runId } = asked;
  expect(await inNewProcess({ ...job, resume: { runId } })).toMatchObject({ status: "waiting" });
  expect(await inNewProcess({ ...job, resume: { runId, seat: "12A" } })).toMatchObject({
    status: "completed",
    output: "Booked.",
  });
  expect(await inNewProcess({ ...job, resume: { runId, seat: "12A" } })).toEqual({ failure: "run-not-resumable" });
  expect(legs).toEqual(["asked", "booked with reservation-1"]);
  await using store = sqliteStore({ path: job.path });
  expect(await store.verify()).toEqual([]);
});

const points: readonly CrashPoint[] = [
  { at: "tool.wait", when: "after", action: "kill" },
  { at: "run.end", when: "before", action: "kill" },
  { at: "run.end", when: "after", action: "kill" },
];

test.for(points)("a process killed at $at ($when the write) leaves a question that can be answered", async (killAt) => {
  const legs: string[] = [];
  await using server = await bookingServer(legs);
  const job = { url: server.url, path: join(folder, `${killAt.at}-${killAt.when}.db`) };
  expect(await inNewProcess({ ...job, killAt })).toBeUndefined();
  const answered = await inNewProcess({ ...job, resume: { runId: "run-1", seat: "12A" } });
  expect(answered).toMatchObject({ status: "completed", output: "Booked." });
  expect(legs).toEqual(["asked", "booked with reservation-1"]);
});
