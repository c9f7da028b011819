// A connection to a server: made on first use, shared by all runs, and made anew once if it was lost.

import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { TraceContext } from "../../tracing/trace-context.ts";
import { version } from "../../version.ts";
import { type ClientPackage, loadClient } from "../packages.ts";
import type { CallResult, ContentBlock } from "./call-result.ts";
import { checkerOf, type ListedTool } from "./definitions.ts";
import type { McpToolsOptions } from "./options.ts";
import { type OpenTransport, openTransport } from "./transport.ts";

type Client = InstanceType<ClientPackage["Client"]>;

/** The answer of a server that needs something from a person first. */
export interface InputRequired {
  readonly resultType: "input_required";
  readonly inputRequests?: Readonly<Record<string, { readonly method: string; readonly params?: unknown }>>;
  readonly requestState?: string;
}

/** A call of a tool: its first request, or one that answers what the server asked. */
export interface ToolRequest {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** The call may be sent again if it is unknown whether the first one took effect. */
  readonly isIdempotent: boolean;
  /** Answers what the server asks while the call is open, on connections of the old protocol. */
  readonly elicit: ((params: unknown) => Promise<Record<string, unknown>>) | undefined;
}

interface Live {
  readonly client: Client;
  readonly opened: OpenTransport;
  /** Set if the server sent too much, which closed the connection. */
  readonly flood: { error: Error | undefined };
}

// Longer than any limit of ours, which says more when it ends a call.
const noTimeout = 2 ** 31 - 1;

/** The connection to one server. */
export class McpConnection {
  readonly #options: McpToolsOptions;
  readonly #timeoutMs: number;
  readonly #open = new Set<CallOptions>();
  #live: Promise<Live> | undefined;
  #current: Live | undefined;
  #isClosed = false;
  #instructions: string | undefined;

  constructor(options: McpToolsOptions, timeoutMs: number) {
    this.#options = options;
    this.#timeoutMs = timeoutMs;
  }

  /** The server's description of itself, once it was connected. */
  get instructions(): string | undefined {
    return this.#instructions;
  }

  /** All tools of the server. */
  async tools(): Promise<readonly ListedTool[]> {
    const { tools } = await this.#read(async ({ client }, options) =>
      has(client, "tools") ? client.listTools(undefined, options) : { tools: [] },
    );
    return tools as readonly ListedTool[];
  }

  async resources(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { resources } = await this.#read(async ({ client }, options) =>
      has(client, "resources") ? client.listResources(undefined, options) : { resources: [] },
    );
    return resources;
  }

  async resource(uri: string): Promise<readonly unknown[]> {
    const { contents } = await this.#read(({ client }, options) => client.readResource({ uri }, options));
    return contents;
  }

  async prompt(
    name: string,
    given: Record<string, string>,
  ): Promise<readonly { role: string; content: ContentBlock }[]> {
    const { messages } = await this.#read(({ client }, options) =>
      client.getPrompt({ name, arguments: given }, options),
    );
    return messages as readonly { role: string; content: ContentBlock }[];
  }

  /** Calls a tool. A lost connection is made anew; the call is sent again only if that cannot repeat its effect. */
  async call(request: ToolRequest, options: CallOptions): Promise<CallResult | InputRequired> {
    this.#open.add(options);
    try {
      const live = await this.#connected();
      try {
        return await this.#send(live, request, options);
      } catch (error) {
        options.signal.throwIfAborted();
        const loss = lossOf(error);
        if (loss === undefined) throw this.#failed(error, "failed");
        await this.#drop(live);
        if (live.flood.error !== undefined) throw live.flood.error;
        if (loss === "unknown" && !options.isIdempotent) throw this.#lost(error);
        return await this.#send(await this.#connected(), request, options);
      }
    } finally {
      this.#open.delete(options);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const live = await this.#live?.catch(() => undefined);
    if (live !== undefined) await this.#drop(live);
  }

  async #send({ client }: Live, request: ToolRequest, { signal }: CallOptions): Promise<CallResult | InputRequired> {
    const _meta = TraceContext.current?.toHeaders() ?? {};
    const options = { signal, timeout: noTimeout, allowInputRequired: true };
    return (await client.callTool({ ...request, _meta } as never, options)) as CallResult | InputRequired;
  }

  // Reading can be repeated.
  async #read<T>(read: (live: Live, options: { readonly timeout: number }) => Promise<T>): Promise<T> {
    const options = { timeout: this.#timeoutMs };
    const live = await this.#connected();
    try {
      return await read(live, options);
    } catch (error) {
      if (lossOf(error) === undefined) throw this.#failed(error, "failed");
      await this.#drop(live);
      if (live.flood.error !== undefined) throw live.flood.error;
    }
    const again = await this.#connected();
    try {
      return await read(again, options);
    } catch (error) {
      throw this.#failed(error, "failed");
    }
  }

  #connected(): Promise<Live> {
    if (this.#isClosed)
      return Promise.reject(
        new OffstageError("mcp-failed", `The tools of the MCP server "${this.#options.name}" were closed.`),
      );
    if (this.#live !== undefined) return this.#live;
    const connecting = this.#connect();
    this.#live = connecting;
    connecting.then(
      (live) => {
        if (this.#live === connecting) this.#current = live;
      },
      () => {
        if (this.#live === connecting) this.#live = undefined;
      },
    );
    return connecting;
  }

  async #connect(): Promise<Live> {
    const { Client } = await loadClient();
    const flood: Live["flood"] = { error: undefined };
    const client = new Client({ name: "offstage", version }, this.#clientOptions());
    const opened = await openTransport(this.#options, (error) => {
      flood.error ??= error;
      void client.close().catch(() => undefined);
    });
    client.setRequestHandler("elicitation/create", async ({ params }) => this.#elicit(params) as never);
    try {
      await client.connect(opened.transport, { timeout: this.#timeoutMs });
    } catch (error) {
      await client.close().catch(() => undefined);
      await opened.end();
      throw this.#failed(flood.error ?? error, "cannot be reached", opened.lastWords());
    }
    const live = { client, opened, flood };
    client.onclose = () => {
      this.#forget(live);
      void opened.end();
    };
    this.#instructions = client.getInstructions();
    return live;
  }

  #clientOptions(): NonNullable<ConstructorParameters<ClientPackage["Client"]>[1]> {
    return {
      capabilities: { elicitation: { form: {} } },
      // The default is the old protocol.
      versionNegotiation: { mode: "auto" },
      inputRequired: { autoFulfill: false },
      // The default compiles patterns of the server, without a bound.
      jsonSchemaValidator: {
        getValidator: <T>(schema: unknown) => {
          const problemsIn = checkerOf(schema as Record<string, unknown>);
          return (value: unknown) => {
            const [problem] = problemsIn(value);
            if (problem !== undefined) return { valid: false as const, data: undefined, errorMessage: problem };
            return { valid: true as const, data: value as T, errorMessage: undefined };
          };
        },
      },
    };
  }

  // The old protocol does not say which call a question belongs to.
  async #elicit(params: unknown): Promise<Record<string, unknown>> {
    const [call, ...others] = this.#open;
    if (call?.elicit === undefined || others.length > 0) return { action: "decline" };
    return call.elicit(params);
  }

  // Another call may have connected anew since.
  #forget(live: Live): void {
    if (this.#current !== live) return;
    this.#current = undefined;
    this.#live = undefined;
  }

  async #drop(live: Live): Promise<void> {
    this.#forget(live);
    await live.opened.end();
    await live.client.close().catch(() => undefined);
  }

  #failed(error: unknown, what: string, lastWords = ""): OffstageError {
    if (isOffstageError(error)) return error;
    const said = lastWords === "" ? "" : ` It wrote: ${lastWords.slice(-1000)}`;
    const message = `The MCP server "${this.#options.name}" ${what}: ${messageOf(error)}${said}`;
    return new OffstageError("mcp-failed", message, { cause: error });
  }

  #lost(cause: unknown): OffstageError {
    const message = `The connection to the MCP server "${this.#options.name}" was lost during the call, and it is unknown whether it took effect. Check before you call it again.`;
    return new OffstageError("mcp-failed", message, { cause });
  }
}

// The package prints if it is asked for something that the server does not have.
function has(client: Client, capability: "tools" | "resources"): boolean {
  return client.getServerCapabilities()?.[capability] !== undefined;
}

const unsentCodes: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];

/** Whether an error means that the connection was lost: before the request was handled, or possibly after. */
function lossOf(error: unknown): "unsent" | "unknown" | undefined {
  const { code, status, name, message } = (error ?? {}) as Record<"code" | "status" | "name" | "message", unknown>;
  if (code === "NOT_CONNECTED" || message === "Not connected") return "unsent";
  if (code === "CONNECTION_CLOSED" || code === "SEND_FAILED") return "unknown";
  // A server that was started anew does not know the session, and refuses the request.
  if (status === 404 || (status === 400 && /session|not initialized/i.test(String(message)))) return "unsent";
  if (status === 502 || status === 503 || status === 504) return "unknown";
  if (name !== "TypeError") return undefined;
  const { code: cause } = ((error as Error).cause ?? {}) as { code?: unknown };
  return unsentCodes.includes(cause) ? "unsent" : "unknown";
}
