// Resuming a run whose record is damaged: refused, because tools might run twice.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { Agent, sqliteStore, tool } from "../../src/index.ts";
import { sqliteDriver } from "../../src/sessions/drivers/sqlite/sqlite.ts";
import type { StoreDriver } from "../../src/sessions/ports/store-driver.ts";
import { createStore, type Store } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { damage } from "../support/stored-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-damaged-runs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Where the run stopped: after its first step, between two calls of it, or inside a subagent. */
type Cut = "after a step" | "within a step" | "after a subagent" | "within a subagent";

let files = 0;

/** A store that breaks with the first result of a tool that it writes, as if its process had died. */
function breaking(path: string): Store {
  const driver = sqliteDriver({ path });
  let isBroken = false;
  const commit: StoreDriver["commit"] = async (given) => {
    if (isBroken) throw new Error("cut off");
    const committed = await driver.commit(given);
    isBroken = given.label === "tool.result";
    if (isBroken) throw new Error("cut off");
    return committed;
  };
  return createStore({ ...driver, commit });
}

/** A model that calls unless its prompt has a result, as a model does that knows nothing of an earlier call. */
function calling(toolCalls: readonly { readonly name: string; readonly input?: object }[], cutAt?: number) {
  return scriptedModel(({ messages, index }) => {
    if (index === cutAt) return new Error("cut off");
    return messages.some(({ role }) => role === "tool") ? "Done." : { toolCalls };
  });
}

/** Runs an agent that charges, directly or through a subagent, until it is cut off. */
async function cutOff(cut: Cut) {
  const path = join(folder, `${files++}.db`);
  const charges: string[] = [];
  const charge = tool({ name: "charge", execute: () => `charge ${charges.push("one")}` });
  const look = tool({ name: "look", execute: () => "seen" });
  const own = { tools: [charge, look], maxParallelTools: 1 };
  const both = [{ name: "charge" }, { name: "look" }];
  const cutAt = cut.startsWith("after") ? 1 : undefined;
  const clerk = new Agent({ name: "clerk", model: calling(both), ...own });
  const asking = [{ name: "clerk", input: { prompt: "Charge." } }];
  const agent = cut.endsWith("subagent")
    ? new Agent({ name: "shop", model: calling(asking, cutAt), tools: [clerk.asTool()] })
    : new Agent({ name: "shop", model: calling(both, cutAt), ...own });
  const store = cut.startsWith("after") ? sqliteStore({ path }) : breaking(path);
  await expect(agent.run("charge me", { session: store.session("s") })).rejects.toThrow("cut off");
  await store.close();
  // The lease of a process that died.
  damage(path, "UPDATE sessions SET lease_run = NULL, lease_holder = NULL, lease_seen = NULL");
  expect(charges).toHaveLength(1);
  const runId = runIdIn(path);
  const resume = async () => {
    await using again = sqliteStore({ path, onError: () => {} });
    return await agent.resume(runId, { store: again });
  };
  return { path, charges, resume };
}

function runIdIn(path: string): string {
  const database = new DatabaseSync(path);
  const found = database.prepare("SELECT run_id FROM runs WHERE parent_run_id IS NULL").get();
  database.close();
  return String(found?.run_id);
}

const child = "(SELECT run_id FROM runs WHERE parent_run_id IS NOT NULL)";
const parent = "(SELECT run_id FROM runs WHERE parent_run_id IS NULL)";

const ofRun = (run: string): Readonly<Record<string, string>> => ({
  "the row of a message cannot be read": `UPDATE messages SET created_at = 'yesterday' WHERE run_id = ${run} AND step = 1`,
  "the calls cannot be read": `UPDATE messages SET tool_calls = 'no JSON' WHERE run_id = ${run} AND tool_calls IS NOT NULL`,
  "the message with the calls is missing": `DELETE FROM messages WHERE run_id = ${run} AND tool_calls IS NOT NULL`,
  "a result cannot be read": `UPDATE messages SET metadata = '{' WHERE run_id = ${run} AND role = 'tool'`,
  "a result is missing": `DELETE FROM messages WHERE run_id = ${run} AND tool_name = 'charge'`,
  "the row of a call cannot be read": `UPDATE tool_calls SET started_at = '?' WHERE run_id = ${run} AND position = 0`,
  "the status of a call is unknown": `UPDATE tool_calls SET status = 'nonsense' WHERE run_id = ${run} AND position = 0`,
  "the rows of the calls are missing": `DELETE FROM tool_calls WHERE run_id = ${run}`,
  "the question cannot be read": `UPDATE messages SET is_error = 7 WHERE run_id = ${run} AND step IS NULL`,
  "the question is missing": `DELETE FROM messages WHERE run_id = ${run} AND step IS NULL`,
  "the messages are all missing": `DELETE FROM messages WHERE run_id = ${run}`,
  "the run cannot be read": `UPDATE runs SET status = 'nonsense' WHERE run_id = ${run}`,
});

const ofSteps = (run: string): Readonly<Record<string, string>> => ({
  "the row of a step cannot be read": `UPDATE steps SET duration_ms = 'long' WHERE run_id = ${run} AND step = 1`,
  "the verdicts of a step cannot be read": `UPDATE steps SET verdicts = '{' WHERE run_id = ${run} AND step = 1`,
  "the row of a step is missing": `DELETE FROM steps WHERE run_id = ${run} AND step = 1`,
  "the key of a step was changed": `UPDATE steps SET step = 7 WHERE run_id = ${run} AND step = 1`,
  "the run of a step was changed": `UPDATE steps SET run_id = 'another' WHERE run_id = ${run} AND step = 1`,
});

const ofChild: Readonly<Record<string, string>> = {
  "the run of the subagent is missing": `DELETE FROM runs WHERE parent_run_id IS NOT NULL`,
  "the run of the subagent has another parent": `UPDATE runs SET parent_run_id = 'another' WHERE parent_run_id IS NOT NULL`,
  "the run of the subagent has another id": `UPDATE runs SET run_id = 'another' WHERE parent_run_id IS NOT NULL`,
};

const isMissing = ([name]: readonly [string, string]): boolean => /missing|changed|another/.test(name);
const afterSubagent = Object.entries({ ...ofRun(child), ...ofSteps(child), ...ofChild });

const cases: Readonly<Record<Cut, readonly (readonly [string, string])[]>> = {
  "after a step": Object.entries({ ...ofRun(parent), ...ofSteps(parent) }),
  "within a step": Object.entries(ofRun(parent)),
  "after a subagent": afterSubagent.filter((each) => !isMissing(each)),
  "within a subagent": Object.entries({ ...ofRun(child), ...ofChild }),
};

for (const [cut, damages] of Object.entries(cases) as [Cut, (typeof cases)[Cut]][])
  describe(`resuming a run that was cut off ${cut} is refused, and no tool runs twice, if`, () => {
    test.for(damages)("%s", async ([, sql]) => {
      const { path, charges, resume } = await cutOff(cut);
      expect(damage(path, sql)).toBeGreaterThan(0);
      const ending: unknown = await resume().then(
        ({ outcome }) => outcome.status,
        (reason: unknown) => reason,
      );
      expect(charges, "no tool runs twice").toHaveLength(1);
      expect(ending).toMatchObject({
        code: expect.stringMatching(/^(store-corrupt|run-not-resumable|run-not-found)$/),
      });
    });
  });

describe("resuming a run after a subagent that has ended runs no tool twice, if", () => {
  test.for(afterSubagent.filter(isMissing))("%s", async ([, sql]) => {
    const { path, charges, resume } = await cutOff("after a subagent");
    expect(damage(path, sql)).toBeGreaterThan(0);
    await resume().catch((error: unknown) => expect(error).toMatchObject({ code: "store-corrupt" }));
    expect(charges).toHaveLength(1);
  });
});

describe("resuming a run whose record is whole", () => {
  test.for(["after a step", "within a step", "after a subagent", "within a subagent"] as const)(
    "goes on, and no tool runs twice, if it was cut off %s",
    async (cut) => {
      const { charges, resume } = await cutOff(cut);
      expect((await resume()).outcome.status).toBe("completed");
      expect(charges).toHaveLength(1);
    },
  );

  test.for(["metadata = '{'", "start_ms = 'late'", "status = 5"])(
    "works if only its spans cannot be read: %s",
    async (change) => {
      const { path, charges, resume } = await cutOff("after a step");
      expect(damage(path, `UPDATE spans SET ${change}`)).toBeGreaterThan(0);
      expect((await resume()).output).toBe("Done.");
      expect(charges).toHaveLength(1);
    },
  );
});
