// offstage chat: talk with an agent at the terminal, in a session that is kept.
import { text as readAll } from "node:stream/consumers";
import { Agent } from "../../../agent/agent.ts";
import type { JsonObject } from "../../../base/json.ts";
import { isOffstageError } from "../../../errors.ts";
import type { PersistentSession } from "../../../sessions/persistent-session.ts";
import type { Store } from "../../../sessions/store.ts";
import { contextOption, readContext } from "../../agents/context.ts";
import { demoAgent } from "../../agents/demo-agent.ts";
import { agentNamed, agentOption, loadAgents } from "../../agents/load-agent.ts";
import { loadModel } from "../../agents/load-model.ts";
import { type McpServers, mcpOption, mcpServers } from "../../agents/mcp-servers.ts";
import { UsageError } from "../../arguments.ts";
import { RunPrinter } from "../../chat/run-printer.ts";
import { Talker } from "../../chat/talk.ts";
import { Terminal } from "../../chat/terminal.ts";
import { type Command, defineCommand, type ExitCode } from "../../command.ts";
import type { Io } from "../../io.ts";
import { dotted } from "../../output/blocks.ts";
import { shortIds } from "../../output/short-ids.ts";
import { counted, errorWords } from "../../output/words.ts";
import { findSession, NotFound } from "../../store/find.ts";

export const command: Command = defineCommand({
  options: {
    agent: agentOption,
    name: { type: "string", value: "name", text: "which agent, if the module has several; default the first" },
    context: contextOption,
    model: {
      type: "string",
      short: "m",
      value: "provider/model",
      text: "a model without tools: openai/…, anthropic/…, google/…, mistral/…, openrouter/…, groq/… or ollama/…",
    },
    "base-url": {
      type: "string",
      value: "url",
      text: "any server that speaks as OpenAI does; --model is then its own name for the model",
    },
    instructions: { type: "string", short: "i", value: "text", text: "the system prompt, with --model" },
    mcp: mcpOption,
    trust: { type: "boolean", text: "let calls of --mcp run without asking, also those that change something" },
    demo: { type: "boolean", text: "an agent that plays a script, without a key" },
  },
  examples: [
    "offstage chat --demo",
    "offstage chat anna --agent ./agent.ts",
    `offstage chat anna --agent ./agent.ts --context '{"userId":"anna"}'`,
    "offstage chat --model ollama/llama3.3",
    'offstage chat --model ollama/llama3.3 --mcp "npx -y @modelcontextprotocol/server-filesystem ."',
    'echo "Where is A-17?" | offstage chat --demo',
  ],
  keys: ["runId", "sessionId", "agent", "status", "reason", "text", "waiting"],
  notes:
    "A new session is begun unless you name one; last continues the latest. What you type while a run works joins it. Esc stops the run and keeps the session, Ctrl+D leaves. Keys are read from the environment, as OPENAI_API_KEY. Without a terminal, each line of standard input is a message.",
  async run({ positionals: [wanted], values }, io) {
    const { mcp, trust = false, model } = values;
    if (mcp !== undefined && model === undefined)
      throw new UsageError(
        "--mcp goes with --model. For an agent of your own, put mcpTools() of offstage/mcp in its tools.",
      );
    if (values.context !== undefined && values.agent === undefined)
      throw new UsageError("--context goes with --agent.");
    const context = readContext(values.context);
    const servers = mcp === undefined ? undefined : await mcpServers(io, mcp, trust);
    try {
      const agent = await agentOf(io, values, servers);
      const store = await io.openStore({ writes: true, creates: true });
      const session = await sessionOf(store, wanted);
      const place = { agent, store, session, context };
      return io.world.stdin.isTTY === true && !io.isJson ? await talk(io, place) : await listen(io, place);
    } finally {
      await servers?.close();
    }
  },
});

interface Chosen {
  readonly agent?: string | undefined;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly "base-url"?: string | undefined;
  readonly instructions?: string | undefined;
  readonly demo?: boolean | undefined;
}

async function agentOf(
  io: Io,
  { agent: path, name, model, "base-url": baseUrl, instructions, demo = false }: Chosen,
  servers: McpServers | undefined,
): Promise<Agent> {
  const given = [path, model, demo ? true : undefined].filter((each) => each !== undefined).length;
  if (given !== 1) throw new UsageError("offstage chat needs one of --agent ./agent.ts, --model openai/… and --demo.");
  if (demo) return demoAgent();
  if (model !== undefined)
    return new Agent({
      name: "assistant",
      model: await loadModel(io, model, baseUrl),
      instructions,
      tools: servers === undefined ? [] : () => servers.tools(),
    });
  const agents = await loadAgents(io, path ?? "");
  return name === undefined ? (agents[0] as Agent) : agentNamed(agents, name, path ?? "");
}

// A whole id that is not there yet begins a session of that name.
async function sessionOf(store: Store, wanted: string | undefined): Promise<PersistentSession> {
  if (wanted === undefined) return store.session();
  try {
    return store.session((await findSession(store, wanted)).sessionId);
  } catch (error) {
    if (!(error instanceof NotFound) || error.isAmbiguous) throw error;
    return wanted === "last" ? store.session() : store.session(wanted);
  }
}

interface Place {
  readonly agent: Agent;
  readonly store: Store;
  readonly session: PersistentSession;
  readonly context: JsonObject | undefined;
}

async function talk(io: Io, place: Place): Promise<ExitCode> {
  const { agent, session, store } = place;
  const terminal = new Terminal(io);
  const talker = new Talker(io, terminal, place);
  const count = await session.getItemCount();
  const shown = io.inline(shortIds([session.sessionId])(session.sessionId));
  io.print(io.paint("bold", io.inline(agent.name)));
  io.print(
    dotted(io, [`session ${shown}`, count === 0 ? "new" : counted(count, "message"), "Esc stops", "Ctrl+D leaves"], ""),
  );
  io.print();
  terminal.open();
  try {
    const [latest] = await session.runs({ limit: 1 });
    const waiting =
      latest?.status === "waiting" && latest.agent === agent.name ? await store.runs.get(latest.runId) : undefined;
    if (waiting !== undefined) await talker.decide(waiting.runId, waiting.approvals);
    await talker.talk();
  } finally {
    terminal.close();
  }
  if ((await session.getItemCount()) > 0)
    io.note(`offstage show ${shown}   what was said; --trace: with what was done`);
  return 0;
}

// Without a terminal, each line is a message, and approvals have to wait.
async function listen(io: Io, { agent, session, context }: Place): Promise<ExitCode> {
  const lines = (await readAll(io.world.stdin)).split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new UsageError("There is no terminal to type at, and standard input is empty.");
  let code: ExitCode = 0;
  for (const line of lines) {
    const stream = agent.stream(line, { session, context, signal: io.world.signal });
    const printer = new RunPrinter(
      io,
      (text) => void io.world.stdout.write(text),
      () => {},
    );
    try {
      for await (const event of stream) if (!io.isJson) printer.print(event);
      const { runId, outcome, text, approvals } = await stream.result;
      const { status, reason } = outcome;
      if (io.isJson)
        io.record({
          runId,
          sessionId: session.sessionId,
          agent: agent.name,
          status,
          reason,
          text,
          waiting: approvals.length,
        });
      else printer.end();
      if (approvals.length === 0) continue;
      io.note(
        `${counted(approvals.length, "call")} ${approvals.length === 1 ? "waits" : "wait"} for a person: offstage inbox.`,
      );
      return code;
    } catch (error) {
      if (isOffstageError(error) && error.result === undefined) throw error;
      printer.end();
      io.note(`offstage: ${errorWords(error)}`);
      code = 1;
    }
  }
  return code;
}
