// A process that runs an agent whose MCP server asks a question, or resumes its run with an answer. Prints what came of it.
import { mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent, isOffstageError, sqliteStore } from "../../src/index.ts";
import { type CrashPoint, crashingStore, scriptedModel } from "../../src/testing/index.ts";

export interface QuestionJob {
  readonly url: string;
  readonly path: string;
  /** The point at which the process dies. */
  readonly killAt?: CrashPoint;
  /** Stays alive when the run waits, to be killed. */
  readonly lingers?: boolean;
  readonly resume?: { readonly runId: string; readonly seat?: string };
}

const job = JSON.parse(process.argv[2] ?? "{}") as QuestionJob;
const plain = sqliteStore({ path: job.path });
const store = job.killAt === undefined ? plain : crashingStore(plain, job.killAt);
const mcp = mcpTools({ name: "s", url: job.url });
const replies = job.resume === undefined ? [{ toolCalls: [{ name: "s__book", id: "b1" }] }, "Booked."] : ["Booked."];
const agent = new Agent({ name: "clerk", model: scriptedModel(replies), tools: () => mcp.tools() });

async function act() {
  if (job.resume === undefined) return agent.run("Book.", { session: store.session("anna"), runId: "run-1" });
  const { runId, seat } = job.resume;
  return agent.resume(runId, {
    store,
    ...(seat !== undefined && { answers: [{ toolCallId: "b1", value: { seat } }] }),
  });
}

const report = await act().then(
  ({ outcome, runId, output, approvals }) => ({ status: outcome.status, runId, output, approvals }),
  (error) => ({ failure: isOffstageError(error) ? error.code : String(error) }),
);
process.stdout.write(`${JSON.stringify(report)}\n`);
if (job.lingers === true) setInterval(() => undefined, 1000);
else {
  await mcp.close();
  await store.close();
}
