// A large record: sessions with runs, steps, tool calls and messages, written through the driver of a store.
import { newHead, withOperation } from "../../packages/offstage/src/sessions/head/session-cell.ts";
import { storeMessage } from "../../packages/offstage/src/sessions/rows/message-row.ts";
import { newRunRow, stepRow } from "../../packages/offstage/src/sessions/rows/run-row.ts";
import { storeSource } from "../../packages/offstage/src/sessions/store.ts";

export const turnsPerSession = 5;
export const messagesPerTurn = 4;

/** Writes sessions through the driver, as rows of runs with a tool call each. One message in a thousand has the needle. */
export async function fillRecord(store, sessions) {
  await store.ready();
  const driver = await store[storeSource].load();
  const perCommit = 50;
  for (let first = 0; first < sessions; first += perCommit) {
    const puts = [];
    for (let n = first; n < Math.min(first + perCommit, sessions); n++) puts.push(...sessionRows(n));
    await driver.commit({ label: "session.add", checks: [], writes: puts });
  }
}

function sessionRows(n) {
  const sessionId = `session-${n}`;
  const base = Date.UTC(2026, 0, 1) + n * 60_000;
  const place = { namespace: "", sessionId };
  const rows = [];
  let seq = 1;
  for (let turn = 0; turn < turnsPerSession; turn++) {
    const runId = `run-${n}-${turn}`;
    const agent = `agent-${n % 7}`;
    const startedAt = new Date(base + turn * 1000).toISOString();
    const run = { runId, agent, step: undefined };
    const tell = (message, position, step) =>
      rows.push(storeMessage(message, { ...place, seq: seq++, position, run: { ...run, step }, hasher: String }).put);
    tell({ role: "user", content: text(n, turn, "asks") }, turn * 2 + 1);
    const call = { id: `call-${turn}`, type: "function", function: { name: "lookup", arguments: `{"n":${n}}` } };
    tell({ role: "assistant", content: null, tool_calls: [call] }, undefined, 1);
    tell({ role: "tool", tool_call_id: call.id, name: "lookup", content: text(n, turn, "finds") }, undefined, 1);
    tell({ role: "assistant", content: text(n, turn, "answers") }, turn * 2 + 2, 2);
    const start = { runId, agent, model: `model-${n % 3}`, startedAt, input: [{}] };
    const status = n % 50 === 0 && turn === 4 ? "failed" : "completed";
    const row = newRunRow(start, { namespace: "", session_id: sessionId, number: turn + 1 });
    const ended = {
      status,
      reason: "answered",
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      duration_ms: 900 + (n % 100),
    };
    rows.push({ table: "runs", row: { ...row, ...ended, seq: n * turnsPerSession + turn + 1, cost_usd: 0.001 } });
    const owner = { namespace: "", session_id: sessionId, run_id: runId, agent };
    for (const step of [1, 2]) {
      const usage = { inputTokens: 50, outputTokens: 10, totalTokens: 60 };
      const record = {
        step,
        messages: [],
        usage,
        model: start.model,
        finishReason: "stop",
        startedAt,
        durationMs: 400,
      };
      rows.push({ table: "steps", row: stepRow(owner, record, undefined) });
    }
    rows.push({ table: "tool_calls", row: callRow(owner, start, turn) });
  }
  const head = withOperation(newHead("", sessionId), `bench${n}`);
  const counts = {
    message_count: turnsPerSession * 2,
    run_count: turnsPerSession,
    next_seq: seq,
    next_run: turnsPerSession + 1,
  };
  rows.push({
    table: "sessions",
    row: { ...head, ...counts, title: text(n, 0, "asks").slice(0, 60), activity: n + 1 },
  });
  return rows;
}

function callRow(owner, { model, startedAt }, turn) {
  const nothing = { child_run_id: null, result_ref: null, edited_arguments: null, question: null, exact: null };
  const call = { call_id: `call-${turn}`, tool: "lookup", arguments: "{}", status: turn === 3 ? "error" : "ok" };
  return { ...owner, step: 1, position: 0, ...call, model, started_at: startedAt, duration_ms: 50, ...nothing };
}

function text(n, turn, verb) {
  const rare = (n * turnsPerSession + turn) % 1000 === 0 ? " with a needle in it" : "";
  return `Customer ${n} ${verb} in turn ${turn}${rare}: ${"the state of the order and what comes next ".repeat(9)}`;
}
