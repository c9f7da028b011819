// mcpTools: the tools of an MCP server as tools of an agent.
import { checkRequired, someText } from "../../base/options.ts";
import { warn as warnProcess } from "../../base/warn.ts";
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import type { ContentPart, Message } from "../../messages/message.ts";
import type { Tool } from "../../tools/tool.ts";
import { partOfBlock, resourcePart } from "./call-result.ts";
import { McpConnection } from "./connection.ts";
import { boundDefinitions, type ListedTool, promptText } from "./definitions.ts";
import { mcpTool } from "./mcp-tool.ts";
import { checkMcpToolsOptions, type McpToolsOptions } from "./options.ts";
import { Pins } from "./pins.ts";
import { checkCollisions, nameMatcher, shownName } from "./tool-names.ts";

/** The tools of an MCP server. Connects on first use; all agents and runs share one connection. */
export interface McpTools extends AsyncDisposable {
  /** The name of the server. */
  readonly name: string;
  /** The tools that the server has now, named `server__tool`. Rejects with `mcp-failed` if it cannot be reached; see `onMissing`. */
  tools(): Promise<Tool[]>;
  /** The server's instructions for its use; undefined before it is connected. Untrusted text, which no agent sees by itself. */
  readonly instructions: string | undefined;
  /** The resources of the server. */
  resources(): Promise<McpResource[]>;
  /** The contents of a resource, as parts of a message. */
  resource(uri: string): Promise<ContentPart[]>;
  /** The messages of a prompt of the server. */
  prompt(name: string, values?: Readonly<Record<string, string | number | boolean>>): Promise<Message[]>;
  /** Closes the connection and ends the server's process. Idempotent. */
  close(): Promise<void>;
}

/** A resource of an MCP server. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

const defaultTimeoutMs = 60_000;
const maxInstructions = 8000;

/** The tools of an MCP server, for agents: `tools: async () => [...(await github.tools())]`. */
export function mcpTools(options: McpToolsOptions): McpTools {
  checkMcpToolsOptions(options);
  const source = new ToolSource(options);
  const { connection } = source;
  return {
    name: options.name,
    tools: () => source.tools(),
    get instructions() {
      return connection.instructions === undefined ? undefined : promptText(connection.instructions, maxInstructions);
    },
    resources: async () => (await connection.resources()) as unknown as McpResource[],
    async resource(uri) {
      checkRequired("uri", uri, someText);
      return (await connection.resource(uri)).map(resourcePart);
    },
    async prompt(name, values = {}) {
      checkRequired("name", name, someText);
      // The protocol knows only texts.
      const given = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
      const messages = await connection.prompt(name, given);
      return messages.map(({ role, content }) => {
        const part = partOfBlock(content);
        return {
          role: role === "assistant" ? "assistant" : "user",
          content: part.type === "text" ? part.text : [part],
        };
      });
    },
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

class ToolSource {
  readonly connection: McpConnection;
  readonly #options: McpToolsOptions;
  readonly #pins: Pins;
  // Tools by definition: one that did not change is the same object, and its schema is compiled once.
  #made = new Map<string, Tool>();
  readonly #warned = new Set<string>();
  #listing: Promise<Tool[]> | undefined;

  constructor(options: McpToolsOptions) {
    this.#options = options;
    this.connection = new McpConnection(options, options.timeoutMs ?? defaultTimeoutMs);
    this.#pins = new Pins(options);
  }

  /** Lists once for everybody who asks meanwhile. */
  async tools(): Promise<Tool[]> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined;
    });
    return [...(await this.#listing)];
  }

  async #list(): Promise<Tool[]> {
    const { name, onMissing = "fail" } = this.#options;
    try {
      const selected = this.#select(await this.connection.tools());
      checkCollisions(name, selected);
      const admitted = await this.#pins.admit(selected, (message) => this.#warn(message));
      return this.#make(admitted);
    } catch (error) {
      if (onMissing !== "leave-out" || !isOffstageError(error, "mcp-failed")) throw error;
      this.#warn(`The tools of the MCP server "${name}" are left out. ${messageOf(error)}`);
      return [];
    }
  }

  #select(tools: readonly ListedTool[]): readonly ListedTool[] {
    const { name, only, onMissing = "fail" } = this.#options;
    if (only === undefined) return tools;
    const known = new Set(tools.map((listed) => listed.name));
    const missing = only.filter((pattern) => !pattern.includes("*") && !known.has(pattern));
    if (missing.length > 0) {
      const names = missing.map(shownName).join(", ");
      const message = `The MCP server "${name}" has no tool ${names}, which "only" names. It has: ${[...known].slice(0, 50).map(shownName).join(", ") || "none"}.`;
      if (onMissing === "fail") throw new OffstageError("mcp-failed", message);
      this.#warn(message);
    }
    const isWanted = nameMatcher(only);
    return tools.filter((listed) => isWanted(listed.name));
  }

  #make(tools: readonly ListedTool[]): Tool[] {
    const { definitions, problems } = boundDefinitions(tools, shownName);
    for (const problem of problems) this.#warn(`${problem} (MCP server "${this.#options.name}")`);
    const made = new Map<string, Tool>();
    const result = tools.flatMap((listed) => {
      const definition = definitions.get(listed.name);
      if (definition === undefined) return [];
      const key = JSON.stringify([
        listed.name,
        definition.description,
        definition.schema.jsonSchema,
        listed.annotations,
      ]);
      const known = this.#made.get(key) ?? mcpTool(this.connection, listed, { definition, options: this.#options });
      made.set(key, known);
      return [known];
    });
    this.#made = made;
    return result;
  }

  // Once each: tools are listed in every step.
  #warn(message: string): void {
    if (this.#warned.has(message) || this.#warned.size >= 1000) return;
    this.#warned.add(message);
    (this.#options.onWarning ?? warnProcess)(message);
  }
}
