import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../../agent/ports/events.ts";
import { UiChunkWriter } from "../protocols/ui-chunks.ts";
import type { ServedEvent } from "./served-event.ts";
import type { Show } from "./show.ts";
import { Teller } from "./teller.ts";

const at = { runId: "run", agent: "desk", step: 1 };
const reasoning: AgentEvent = { type: "reasoning-delta", ...at, delta: "Hm." };
const retry: AgentEvent = { type: "model-retry", ...at, attempt: 1, delayMs: 0, error: new Error("busy") };

function started(toolName: string, place = at): AgentEvent {
  const call = { toolCallId: "c1", toolName, inputText: '{"secret":1}' };
  return { type: "tool-start", ...place, toolCallId: "c1", toolName, call };
}

function inSubagent(event: AgentEvent): AgentEvent {
  return { type: "subagent-event", ...at, toolCallId: "c1", event };
}

function told(show: Show, ...events: AgentEvent[]): ServedEvent[] {
  const teller = new Teller("run", show);
  return events.flatMap((event) => teller.tell(event));
}

describe("what a client is told", () => {
  test("a retry after reasoning resets the step", () => {
    const events = told("trace", { type: "step-start", ...at }, reasoning, retry, reasoning);
    expect(events.map(({ type }) => type)).toEqual(["step-start", "reasoning-delta", "step-reset", "reasoning-delta"]);
    const writer = new UiChunkWriter();
    const chunks = events.flatMap((event) => writer.write(event));
    expect(chunks.map(({ type }) => type)).toEqual([
      ...["start-step", "reasoning-start", "reasoning-delta"],
      ...["reset-step", "reasoning-start", "reasoning-delta"],
    ]);
  });

  test("a retry resets nothing that was not told", () => {
    expect(told("conversation", reasoning, retry)).toEqual([]);
    expect(told("trace", retry)).toEqual([]);
  });

  test("calls of a subagent have ids of their own, and are hidden with its tool", () => {
    const child = { runId: "child", agent: "helper", step: 1 };
    const events = [
      started("ask"),
      inSubagent(started("look", child)),
      inSubagent({ type: "text-delta", ...child, delta: "Hi" }),
    ];
    expect(told("trace", ...events)).toMatchObject([
      { type: "tool-start", toolCallId: "c1", input: { secret: 1 } },
      { type: "tool-start", toolCallId: "child:c1", subagent: { runId: "child", agent: "helper" } },
      { type: "text-delta", delta: "Hi", subagent: { runId: "child" } },
    ]);
    const names = (toolName: string) => (toolName === "ask" ? ("name" as const) : ("all" as const));
    expect(told(names, ...events)).toEqual([
      { type: "tool-start", runId: "run", step: 1, toolCallId: "c1", toolName: "ask" },
    ]);
  });

  test("input that a provider streams is not told: its ids are not the calls'", () => {
    expect(told("trace", { type: "tool-input-delta", ...at, toolCallId: "p1", toolName: "look", delta: "{" })).toEqual(
      [],
    );
  });

  test.for([
    () => {
      throw new Error("no");
    },
    () => "everything" as never,
    () => undefined as never,
  ])("a function that does not decide shows nothing (%#)", (show, { expect }) => {
    expect(told(show, started("look"))).toEqual([]);
  });
});
