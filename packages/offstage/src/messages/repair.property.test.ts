// Repair over 10,000 generated histories, judged by a checker that shares no code with it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyHistories, deepFrozen, validHistories } from "../../test/support/generated-histories.ts";
import { providerViolations } from "../../test/support/provider-violations.ts";
import type { Message } from "./message.ts";
import { Messages } from "./messages.ts";
import { repairMessages } from "./repair.ts";

// Bounded in time as well: on a busy machine they are fewer.
const many = { numRuns: 10_000, interruptAfterTimeLimit: 10_000 };

describe("the checker of these tests", () => {
  test("accepts every valid conversation", () => {
    fc.assert(
      fc.property(validHistories, (history) => {
        expect(providerViolations(history)).toEqual([]);
      }),
    );
  });

  test("finds fault with many damaged conversations", () => {
    const sample = fc.sample(anyHistories, 1000);
    expect(sample.filter((history) => providerViolations(history).length > 0).length).toBeGreaterThan(300);
  });
});

describe("repairMessages, over 10,000 generated histories", () => {
  test("returns a list that every provider accepts", () => {
    const property = fc.property(anyHistories, (history) => {
      const problems = providerViolations(repairMessages(history));
      if (problems.length > 0) throw new Error(problems.join("\n"));
    });
    fc.assert(property, many);
  });

  test("is idempotent: the second run returns the same object", () => {
    const property = fc.property(anyHistories, (history) => {
      const once = repairMessages(history);
      return repairMessages(once) === once;
    });
    fc.assert(property, many);
  });

  test("is the identity on valid input: the same object", () => {
    const property = fc.property(validHistories, (history) => repairMessages(history) === history);
    fc.assert(property, many);
  });

  test("is deterministic: equal lists give equal lists", () => {
    const property = fc.property(anyHistories, (history) => {
      const again = JSON.stringify(repairMessages(structuredClone(history)));
      return JSON.stringify(repairMessages(history)) === again;
    });
    fc.assert(property, { numRuns: 1000 });
  });

  test("never changes its input", () => {
    const property = fc.property(anyHistories, (history) => {
      const before = JSON.stringify(history);
      repairMessages(deepFrozen(history));
      return JSON.stringify(history) === before;
    });
    fc.assert(property, { numRuns: 1000 });
  });

  test("returns messages that need no repair as the same objects", () => {
    const property = fc.property(anyHistories, (history) => {
      const given = new Set(history);
      for (const message of repairMessages(history)) {
        if (!given.has(message) && message.metadata?.repaired === undefined) throw new Error(JSON.stringify(message));
      }
    });
    fc.assert(property, { numRuns: 1000 });
  });

  test("loses no user message that says something, and keeps their order", () => {
    const spoken = (list: readonly Message[]) =>
      list.filter((message) => message?.role === "user" && typeof message.content === "string");
    const property = fc.property(anyHistories, (history) => {
      expect(spoken(repairMessages(history))).toEqual(spoken(history));
    });
    fc.assert(property, { numRuns: 1000 });
  });

  test("pairs each call with at most one result, and never with one of another call", () => {
    const property = fc.property(validHistories, fc.infiniteStream(fc.nat(1000)), (history, order) => {
      const keyed = history.map((message) => [order.next().value, message] as const);
      const shuffled = keyed.sort(([a], [b]) => a - b).map(([, message]) => message);
      for (const message of repairMessages(shuffled)) {
        if (message.role === "tool") expect(message.content).toBe(`result of ${message.tool_call_id}`);
      }
    });
    fc.assert(property, { numRuns: 1000 });
  });

  test("repairs a Messages list like an array", () => {
    const property = fc.property(anyHistories, (history) => {
      const repaired = repairMessages(Messages.from(history));
      expect(repaired).toBeInstanceOf(Messages);
      expect(repaired.toArray()).toEqual(repairMessages(history));
      expect(repairMessages(repaired)).toBe(repaired);
    });
    fc.assert(property, { numRuns: 1000 });
  });
});
