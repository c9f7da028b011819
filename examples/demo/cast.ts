// The agents of the demonstration: one on call with three tools, and a reviewer as its subagent. The tools return fixed data.
import { Agent, tool } from "offstage";
import * as z from "zod";
import type { Models } from "./choose-models.ts";
import type { Pace } from "./pace.ts";

const people: Record<string, string> = { payments: "Ines Duarte, #payments", web: "Tomasz Nowak, #web" };

/** The agent the demonstration talks to. */
export function castAgents(models: Models, pace: Pace): Agent {
  const service = z.object({ service: z.string().describe("The name of a service, such as checkout") });
  const latency = tool({
    name: "latency",
    description:
      "The response times of a service today, every five minutes: the slowest five per cent, in milliseconds.",
    input: service,
    idempotent: true,
    async execute() {
      await pace.work();
      return figures();
    },
  });
  const deployments = tool({
    name: "deployments",
    description: "What was deployed of a service today.",
    input: service,
    idempotent: true,
    async execute() {
      await pace.work();
      return [
        { at: "08:30", commit: "c02be11", title: "Round totals to cents" },
        { at: "12:04", commit: "7f3a9c1", title: "Vouchers per line item" },
      ];
    },
  });
  const onCall = tool({
    name: "on_call",
    description: "Who of a team is on call.",
    input: z.object({ team: z.string() }),
    idempotent: true,
    async execute({ team }) {
      await pace.work();
      const person = people[team];
      if (person === undefined)
        throw new Error(`there is no team "${team}"; teams are ${Object.keys(people).join(", ")}`);
      return person;
    },
  });
  return new Agent({
    name: "on-call",
    model: models.onCall,
    instructions:
      "You help the engineer on call. Look at latency and deployments first, have the reviewer read a suspicious commit, " +
      "and answer in at most three sentences.",
    tools: [latency, deployments, onCall, castReviewer(models, pace).asTool()],
    separateToolTrace: true,
  });
}

function castReviewer(models: Models, pace: Pace): Agent {
  const readDiff = tool({
    name: "read_diff",
    description: "The changes of a commit.",
    input: z.object({ commit: z.string() }),
    idempotent: true,
    async execute({ commit }) {
      await pace.work();
      return `${commit}\n+ for (const item of cart.items) {\n+   item.voucher = await db.vouchers.find({ sku: item.sku });\n+ }`;
    },
  });
  return new Agent({
    name: "reviewer",
    description:
      "Reads a commit and says in one sentence whether it explains a problem. Give it the commit and the problem.",
    model: models.reviewer,
    instructions: "Read the commit with read_diff, then answer in at most two sentences.",
    tools: [readDiff],
  });
}

function figures(): string {
  const rows = Array.from({ length: 48 }, (_, index) => {
    const minutes = 10 * 60 + index * 5;
    const at = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
    return `${at} ${minutes < 725 ? 170 + (index % 5) * 5 : 1850 + (index % 7) * 20} ms`;
  });
  return rows.join("\n");
}
