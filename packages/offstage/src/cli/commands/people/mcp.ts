// offstage mcp: serves the record, and agents if a module has them, to the program that started it.
import { Writable } from "node:stream";
import { messageOf } from "../../../errors.ts";
import type { McpStdioOptions } from "../../../mcp/server/mcp-server.ts";
import { agentOption, loadAgents } from "../../agents/load-agent.ts";
import { type Command, defineCommand } from "../../command.ts";

export const command: Command = defineCommand({
  options: { agent: agentOption },
  examples: [
    "offstage mcp --store ./offstage.db",
    "offstage mcp --agent ./agent.ts",
    "claude mcp add record -- npx offstage mcp --store ./offstage.db",
  ],
  keys: [],
  notes:
    "An MCP client starts this command and talks with it over standard input and output. The tools search_sessions, show_session, show_run and tool_calls only read; with --agent, each agent is a tool ask_name, and its runs are recorded. It ends when the client is gone.",
  async run({ values: { agent } }, io) {
    const { mcpServer } = await import("../../../mcp/server/mcp-server.ts");
    const { stdin, stdout, signal } = io.world;
    const agents = agent === undefined ? [] : await loadAgents(io, agent);
    const writes = agents.length > 0;
    const store = await io.openStore({ writes, creates: writes });
    const onError = (error: unknown): void => io.note(`offstage: ${messageOf(error)}`);
    const server = mcpServer({ store, agents, redact: (value) => io.clean(value), onError });
    if (stdin.isTTY === true)
      io.note("This speaks MCP over standard input and output: let an MCP client start it. Ctrl+C ends it.");
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        stdout.write(chunk.toString());
        done();
      },
    });
    const stop = (): void => void server.close();
    signal.addEventListener("abort", stop, { once: true });
    await server.stdio({ input: stdin as NonNullable<McpStdioOptions["input"]>, output });
    signal.removeEventListener("abort", stop);
    await server.close();
    return 0;
  },
});
