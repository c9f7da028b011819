// A store that fails a run: told as a failure of the store, whatever was being written, with what the run had done.
import { describe, expect } from "vitest";
import { Agent, memoryStore } from "../../src/index.ts";
import { crashingStore, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "./both-ways.ts";
import { calls, echo, echoing } from "./cast.ts";

const gone = new Error("the disk is gone");

describe("a store that throws any error", () => {
  for (const at of ["run.begin", "tool.intent", "tool.result", "step.commit", "run.end"] as const)
    bothWays(`at ${at} fails the run with store-failed, the name of the store and the cause`, async ({ fail }) => {
      await using store = crashingStore(memoryStore(), { at, when: "before", action: gone });
      const model = scriptedModel([calls(echoing("a"), echoing("b")), "Done."]);
      const error = await fail(new Agent({ model, tools: [echo] }), "Go", { session: store.session("s") });
      expect(error).toMatchObject({
        code: "store-failed",
        message: "the store in memory failed: the disk is gone",
        cause: gone,
      });
      expect(error.result.outcome).toMatchObject({ status: "failed", reason: "store-failed" });
    });
});
