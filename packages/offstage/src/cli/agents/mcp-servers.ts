// MCP servers for a conversation: a command line or an address each, and the tools of all of them.
import type { McpTools } from "../../mcp/client/mcp-tools.ts";
import type { Tool } from "../../tools/tool.ts";
import { UsageError } from "../arguments.ts";
import type { Io } from "../io.ts";

export const mcpOption = {
  type: "string",
  multiple: true,
  value: "command|url",
  text: 'tools of an MCP server, with --model: "npx -y …" or https://…; also name=…; may be repeated',
} as const;

export interface McpServers {
  /** The tools that all servers have now. */
  tools(): Promise<Tool[]>;
  close(): Promise<void>;
}

/** The servers of the option. Nothing is started before the tools are asked for. */
export async function mcpServers(io: Io, given: readonly string[], trusts: boolean): Promise<McpServers> {
  const { mcpTools } = await import("../../mcp/client/mcp-tools.ts");
  const servers: McpTools[] = [];
  for (const line of given) {
    const { name, place } = parseServer(line);
    const isTaken = servers.some((server) => server.name === name);
    servers.push(
      mcpTools({
        name: isTaken ? `${name.slice(0, 28)}_${servers.length + 1}` : name,
        ...place,
        // The person started the server, and decides about what it may change.
        approve: trusts ? "never" : "unless-read-only",
        trustHints: true,
        onWarning: (message) => io.note(message),
      }),
    );
  }
  return {
    tools: async () => (await Promise.all(servers.map((server) => server.tools()))).flat(),
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}

interface ParsedServer {
  readonly name: string;
  readonly place:
    | { readonly url: string }
    | { readonly command: string; readonly args: readonly string[]; readonly cwd?: string };
}

/** Reads one server: "files=npx -y …", "npx -y …" or an address. Without a name, it is taken from the program or the host. */
export function parseServer(line: string): ParsedServer {
  const [, named, rest = ""] = /^(?:([A-Za-z0-9_-]{1,32})=)?(.*)$/s.exec(line.trim()) ?? [];
  if (/^https?:\/\//i.test(rest)) {
    const host = URL.parse(rest)?.hostname;
    if (host === undefined) throw new UsageError(`--mcp "${rest}" is no address.`);
    return { name: named ?? nameOf(host.replace(/^(www|mcp|api)\./, "")), place: { url: rest } };
  }
  const [command, ...args] = wordsOf(rest);
  if (command === undefined) throw new UsageError('--mcp needs a command or an address, such as "npx -y some-server".');
  // The program behind a starter: the first word that is neither the starter nor an option.
  const program =
    [command, ...args].find((word) => !/^(npx|npm|exec|node|bunx?|uvx?|deno|run|-.*)$/.test(word)) ?? command;
  return { name: named ?? nameOf(program), place: { command, args } };
}

function nameOf(program: string): string {
  const [last = ""] = program
    .split("/")
    .filter((part) => part !== "")
    .slice(-1);
  const plain = last.replace(/@[^@]*$/, "").replace(/\.[cm]?[jt]s$/, "");
  return plain.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 32) || "server";
}

// As a shell splits them: quotes hold words together.
function wordsOf(line: string): string[] {
  const words = line.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double = "", single = "") => `${double}${single}`),
  );
}
