// mcpServer: a store and agents as an MCP server, on HTTP and on standard input and output. It keeps nothing between two requests.
import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { isObject } from "../../base/json.ts";
import {
  checkOptions,
  checkRequired,
  type OptionRule,
  objectWith,
  positiveNumber,
  someFunction,
  someText,
} from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import { warn } from "../../base/warn.ts";
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { type Store, someStore } from "../../sessions/store.ts";
import { type CompiledSchema, compileSchema } from "../../tools/schema.ts";
import { version } from "../../version.ts";
import { loadServer, loadStdioServer, type ServerPackage } from "../packages.ts";
import { type AnyAgent, askTool } from "./ask-tools.ts";
import { readTools } from "./read-tools.ts";
import type { CallSite, McpAccess, Served, ServedTool } from "./served-tool.ts";

export interface McpServerOptions {
  /** The store to read, in which the agents' runs are recorded. */
  readonly store: Store;
  /** The agents to offer, each as a tool `ask_name`. Default: none. */
  readonly agents?: readonly AnyAgent[] | undefined;
  /** Says who a request comes from, and what they may see; undefined refuses it. HTTP is refused without it. */
  readonly authorize?: ((request: Request) => McpAccess | undefined | Promise<McpAccess | undefined>) | undefined;
  /** The name of the server. Default "offstage". */
  readonly name?: string | undefined;
  /** Removes secrets from results. Default: a `redactor()`. */
  readonly redact?: Redactor | undefined;
  /** The size of a result. Default 64 KiB. */
  readonly maxResultBytes?: number | undefined;
  /** Signs what travels with the question of a run that waits: at least 32 bytes, the same in all processes. Default: random. */
  readonly secret?: string | undefined;
  /** Receives errors that callers do not see. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface McpStdioOptions {
  /** Default: standard input. */
  readonly input?: Readable | undefined;
  /** Default: standard output, which must not be used for anything else. */
  readonly output?: Writable | undefined;
}

/** A store and agents as an MCP server. */
export interface McpServer extends AsyncDisposable {
  /** Serves a request of any web framework. A bound function. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Serves one client on standard input and output. Resolves when it is gone. */
  stdio(options?: McpStdioOptions): Promise<void>;
  /** Ends what is being served. The store stays open. Idempotent. */
  close(): Promise<void>;
}

const rules: Readonly<Record<keyof McpServerOptions, OptionRule>> = {
  store: someStore,
  agents: {
    isFit: (value) => Array.isArray(value) && value.every((each) => typeof each?.asTool === "function"),
    words: "a list of agents",
  },
  authorize: someFunction,
  name: someText,
  redact: someFunction,
  maxResultBytes: positiveNumber,
  secret: {
    isFit: (value) => typeof value === "string" && Buffer.byteLength(value) >= 32,
    words: "text of at least 32 bytes",
  },
  onError: someFunction,
};

const stdioRules: Readonly<Record<keyof McpStdioOptions, OptionRule>> = {
  input: objectWith("a readable stream", "on", "read"),
  output: objectWith("a writable stream", "on", "write"),
};

// How long a person may take to answer before the client has to ask again.
const stateTtlSeconds = 7 * 24 * 3600;
const minResultBytes = 4096;

/** Serves a store, and agents if any are given. Reading tools: search_sessions, show_session, show_run, tool_calls; then `ask_agent`. */
export function mcpServer(options: McpServerOptions): McpServer {
  checkOptions(options, rules, "mcpServer");
  checkRequired("store", options.store, rules.store);
  return new Serving(options).face();
}

interface OfferedTool extends ServedTool {
  readonly schema: CompiledSchema;
}

class Serving {
  readonly #options: McpServerOptions;
  readonly #tools: ReadonlyMap<string, OfferedTool>;
  readonly #secret: string;
  readonly #open = new Set<{ close(): Promise<void> }>();
  #handler: Promise<ReturnType<ServerPackage["createMcpHandler"]>> | undefined;

  constructor(options: McpServerOptions) {
    this.#options = options;
    this.#tools = toolsByName([...readTools, ...(options.agents ?? []).map(askTool)]);
    this.#secret = options.secret ?? randomBytes(32).toString("base64url");
  }

  face(): McpServer {
    const close = (): Promise<void> => this.#close();
    return {
      fetch: (request) => this.#fetch(request),
      stdio: (options = {}) => this.#stdio(options),
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  async #fetch(request: Request): Promise<Response> {
    const access = await this.#admit(request);
    if (access instanceof Response) return access;
    this.#handler ??= this.#makeHandler();
    const handler = await this.#handler;
    return handler.fetch(request, { authInfo: { token: "", clientId: "", scopes: [], extra: { access } } });
  }

  async #admit(request: Request): Promise<McpAccess | Response> {
    const { authorize } = this.#options;
    if (authorize === undefined) return refusal(401, 'This server has no "authorize", and refuses requests over HTTP.');
    try {
      const access = await authorize(request);
      return isObject(access) ? (access as McpAccess) : refusal(401, "Not authorized.");
    } catch (error) {
      this.#report(error);
      return refusal(500, "The request could not be authorized.");
    }
  }

  async #makeHandler(): Promise<ReturnType<ServerPackage["createMcpHandler"]>> {
    const server = await loadServer();
    const handler = server.createMcpHandler(
      ({ authInfo }) => this.#serverFor(server, (authInfo?.extra?.access ?? {}) as McpAccess),
      { onerror: (error) => this.#report(error) },
    );
    this.#open.add(handler);
    return handler;
  }

  async #stdio(options: McpStdioOptions): Promise<void> {
    checkOptions(options, stdioRules, "stdio");
    const [server, { serveStdio, StdioServerTransport }] = await Promise.all([loadServer(), loadStdioServer()]);
    const transport = new StdioServerTransport(options.input, options.output);
    const { promise, resolve } = Promise.withResolvers<void>();
    const handle = serveStdio(() => this.#serverFor(server, {}), {
      transport,
      onerror: (error) => this.#report(error),
    });
    // The entry has set its own, which closes the instance.
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
    this.#open.add(handle);
    await promise;
    this.#open.delete(handle);
  }

  async #close(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    this.#handler = undefined;
    await Promise.all(open.map((each) => each.close().catch(() => undefined)));
  }

  #serverFor(server: ServerPackage, access: McpAccess): InstanceType<ServerPackage["Server"]> {
    const { name = "offstage" } = this.#options;
    // A state that was handed out in one namespace or session is worth nothing in another.
    const place = JSON.stringify([access.namespace ?? null, access.session ?? null]);
    const codec = server.createRequestStateCodec({ key: this.#secret, ttlSeconds: stateTtlSeconds, bind: () => place });
    const served = new server.Server(
      { name, version },
      { capabilities: { tools: {} }, requestState: { verify: codec.verify } },
    );
    served.setRequestHandler("tools/list", () => ({
      tools: [...this.#tools.values()].map(({ name: tool, description, input, hints }) => ({
        name: tool,
        description,
        inputSchema: input as { type: "object" },
        annotations: hints,
      })),
    }));
    served.setRequestHandler("tools/call", async ({ params }, context) => {
      const { mcpReq } = context;
      const declared =
        mcpReq.envelope?.[server.CLIENT_CAPABILITIES_META_KEY as keyof typeof mcpReq.envelope] ??
        served.getClientCapabilities();
      const result = await this.#serve(params, {
        access,
        signal: mcpReq.signal,
        canAsk: isObject(declared) && isObject(declared.elicitation),
        state: mcpReq.requestState(),
        answers: (mcpReq.inputResponses ?? {}) as Record<string, unknown>,
      });
      if ("text" in result) {
        const { text, isError = false, meta } = result;
        return { content: [{ type: "text" as const, text }], isError, ...(meta !== undefined && { _meta: meta }) };
      }
      const asked = Object.entries(result.questions).map(([key, { message, schema }]) => [
        key,
        server.inputRequired.elicit({ message, requestedSchema: schema as never }),
      ]);
      const requestState = await codec.mint(result.state, context);
      return server.inputRequired({ inputRequests: Object.fromEntries(asked), requestState }) as never;
    });
    return served;
  }

  async #serve(
    {
      name,
      arguments: given = {},
    }: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
    site: Pick<CallSite, "access" | "signal" | "canAsk" | "state" | "answers">,
  ): Promise<Served> {
    const { store, redact = redactor(), maxResultBytes = 64 * 1024 } = this.#options;
    const tool = this.#tools.get(name);
    if (tool === undefined)
      return { text: `There is no tool with this name. Tools: ${[...this.#tools.keys()].join(", ")}.`, isError: true };
    try {
      const checked = await tool.schema.check(given);
      if ("problems" in checked)
        return { text: `The input does not fit: ${checked.problems.join("; ")}`, isError: true };
      const { namespace } = site.access;
      const own = namespace === undefined ? store : store.namespace(namespace);
      return await tool.serve(given, {
        ...site,
        store: own,
        redact,
        maxBytes: Math.max(maxResultBytes, minResultBytes),
      });
    } catch (error) {
      if (site.signal.aborted) throw error;
      return { text: this.#told(error), isError: true };
    }
  }

  // A caller is told what is wrong with the call, and nothing about the inside.
  #told(error: unknown): string {
    if (isOffstageError(error, "invalid-argument") || isOffstageError(error, "run-not-found")) return error.message;
    this.#report(error);
    return `The tool failed${isOffstageError(error) ? `: ${error.code}` : ""}.`;
  }

  #report(error: unknown): void {
    const { onError } = this.#options;
    if (onError === undefined) warn(`The MCP server reports: ${messageOf(error)}`);
    else onError(error);
  }
}

function toolsByName(tools: readonly ServedTool[]): ReadonlyMap<string, OfferedTool> {
  const byName = new Map<string, OfferedTool>();
  for (const tool of tools) {
    if (byName.has(tool.name))
      throw new OffstageError(
        "invalid-argument",
        `Two agents would be the tool "${tool.name}". Give one of them another name.`,
      );
    const schema = compileSchema(tool.input, { name: `the tool "${tool.name}"`, code: "invalid-tool" });
    byName.set(tool.name, { ...tool, schema });
  }
  return byName;
}

function refusal(status: number, message: string): Response {
  const headers = status === 401 ? { "www-authenticate": "Bearer" } : {};
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_001, message } }, { status, headers });
}
