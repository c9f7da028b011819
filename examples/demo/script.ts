// The replies of the models without a provider. Each reply depends on the messages so far, not on the number of calls, so
// that an interrupted run can be resumed.
import type { Message } from "offstage";
import { type ScriptedModel, type ScriptedReply, scriptedModel } from "offstage/testing";
import type { Pace } from "./pace.ts";

export function scriptedOnCall(pace: Pace): ScriptedModel {
  return scriptedModel(async ({ messages }) => {
    await pace.think();
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
    return String(turn[0]?.content).startsWith("Checkout") ? diagnose(called(turn)) : notify(called(turn));
  });
}

export function scriptedReviewer(pace: Pace): ScriptedModel {
  return scriptedModel(async ({ messages }) => {
    await pace.think();
    if (!called(messages).has("read_diff")) return { toolCalls: [{ name: "read_diff", input: { commit: "7f3a9c1" } }] };
    return "Yes: it looks up the voucher of every line item in a loop, one query each. A cart of forty items makes forty queries.";
  });
}

function diagnose(done: ReadonlyMap<string, number>): string | ScriptedReply {
  if (!done.has("latency")) {
    return {
      text: "Let me look at the figures and at what was deployed. ",
      toolCalls: [
        { name: "latency", input: { service: "checkout" } },
        { name: "deployments", input: { service: "checkout" } },
      ],
      usage: { inputTokens: 310, outputTokens: 52 },
    };
  }
  if (!done.has("reviewer")) {
    const prompt = "Could commit 7f3a9c1 of checkout make requests slow? It went out at 12:04.";
    return { toolCalls: [{ name: "reviewer", input: { prompt } }], usage: { inputTokens: 1240, outputTokens: 38 } };
  }
  return {
    text:
      "Commit 7f3a9c1, deployed at 12:04, asks the database once for every line item; since then the slowest five per cent of " +
      "requests take 1,900 ms instead of 180. Roll it back, then load all vouchers of a cart in one query.",
    usage: { inputTokens: 1330, outputTokens: 61 },
  };
}

// Its first call is wrong, as calls of real models sometimes are.
function notify(done: ReadonlyMap<string, number>): string | ScriptedReply {
  const calls = done.get("on_call") ?? 0;
  if (calls < 2) {
    const team = calls === 0 ? "checkout" : "payments";
    return { toolCalls: [{ name: "on_call", input: { team } }], usage: { inputTokens: 420, outputTokens: 20 } };
  }
  return {
    text:
      'Ines of payments is on call. Write to her: "Checkout is slow since 12:04 because of 7f3a9c1 (one voucher query per line ' +
      'item). I am rolling it back now; please look at a single query for the fix."',
    usage: { inputTokens: 470, outputTokens: 55 },
  };
}

/** The number of results of each tool. */
function called(messages: readonly Message[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const message of messages) {
    if (message.role === "tool") counts.set(message.name ?? "", (counts.get(message.name ?? "") ?? 0) + 1);
  }
  return counts;
}
