// Transports to a server: a child process with an environment of its own, or HTTP with credentials that go nowhere else.
import { inertText } from "../../base/inert.ts";
import { redactor } from "../../base/redact.ts";
import { type ClientPackage, loadClient, loadStdioClient } from "../packages.ts";
import { guardedFetch, tooMuch } from "./guarded-fetch.ts";
import type { McpAuthProvider, McpOAuthProvider, McpToolsOptions } from "./options.ts";

type Transport = Parameters<InstanceType<ClientPackage["Client"]>["connect"]>[0];

export interface OpenTransport {
  readonly transport: Transport;
  /** The last lines that the server wrote to its standard error, safe to print. */
  lastWords(): string;
  /** Ends the server's side of the connection, if there is something to end. Never rejects. */
  end(): Promise<void>;
}

// A server that sends this many unsolicited messages in a row means harm.
const maxUnasked = 10_000;

/** A transport that is not started yet. `onFlood` is told of a server that sends too much. */
export async function openTransport(options: McpToolsOptions, onFlood: (error: Error) => void): Promise<OpenTransport> {
  const opened = await (options.url === undefined ? childProcess(options) : http(options, onFlood));
  let unasked = 0;
  // The client calls this before it reads a message itself.
  opened.transport.onmessage = (message) => {
    unasked = "method" in message ? unasked + 1 : 0;
    if (unasked > maxUnasked) onFlood(tooMuch(options.name, `more than ${maxUnasked} messages that answer nothing`));
  };
  return opened;
}

const maxLastWords = 4096;
// A process on Windows does not start without these.
const inherited = process.platform === "win32" ? undefined : ["PATH", "HOME"];

async function childProcess({ command = "", args = [], env, cwd }: McpToolsOptions): Promise<OpenTransport> {
  const { StdioClientTransport, DEFAULT_INHERITED_ENV_VARS } = await loadStdioClient();
  // The package passes on more of the environment; undefined takes it out again.
  const removed = inherited === undefined ? [] : DEFAULT_INHERITED_ENV_VARS.filter((name) => !inherited.includes(name));
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...Object.fromEntries(removed.map((name) => [name, undefined as unknown as string])), ...env },
    stderr: "pipe",
    ...(cwd !== undefined && { cwd }),
  });
  let words = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString("utf8")).slice(-maxLastWords);
  });
  const kill = (): void => {
    if (transport.pid !== null) process.kill(transport.pid, "SIGTERM");
  };
  process.once("exit", kill);
  return {
    transport,
    lastWords: () => inertText(redactor()(words)).trim(),
    end: async () => void process.removeListener("exit", kill),
  };
}

async function http(options: McpToolsOptions, onFlood: (error: Error) => void): Promise<OpenTransport> {
  const { name, url = "", headers = {}, authProvider } = options;
  const client = await loadClient();
  const auth = authProvider && sharedAuth(authProvider, client);
  const hasCredentials = authProvider !== undefined || Object.keys(headers).length > 0;
  const guarded = guardedFetch({
    ...{ name, hasCredentials, onFlood, token: auth?.token },
    widen: async (response) => auth?.widen?.(response, new URL(url)),
  });
  const isBound = authProvider !== undefined && "tokens" in authProvider && "dpop" in authProvider;
  const transport = new client.StreamableHTTPClientTransport(new URL(url), {
    fetch: isBound ? client.withDpopFromProvider(authProvider as never)(guarded) : guarded,
    requestInit: { headers: { ...headers } },
    ...(auth !== undefined && { authProvider: auth }),
  });
  const end = async (): Promise<void> => {
    if (transport.sessionId === undefined) return;
    const late = new Promise((resolve) => void setTimeout(resolve, 2000).unref?.());
    await Promise.race([transport.terminateSession().catch(() => undefined), late]);
  };
  return { transport, lastWords: () => "", end };
}

type Unauthorized = { readonly response: Response; readonly serverUrl: URL; readonly fetchFn: typeof fetch };

interface Auth {
  readonly token: () => Promise<string | undefined>;
  readonly onUnauthorized?: (context: Unauthorized) => Promise<void>;
  /** Asks for the rights that a refusal with 403 names; resolves with the new token, or undefined if there is none yet. */
  readonly widen?: (response: Response, serverUrl: URL) => Promise<string | undefined>;
}

/** A provider whose refresh is shared by all requests that were refused meanwhile: a refresh token may be good for one use. */
function sharedAuth(provider: McpAuthProvider | McpOAuthProvider, client: ClientPackage): Auth {
  const { onUnauthorized: refresh, ...rest } = "tokens" in provider ? oauth(provider, client) : plain(provider);
  if (refresh === undefined) return rest;
  let refreshing: Promise<void> | undefined;
  const onUnauthorized = (context: Unauthorized): Promise<void> => {
    refreshing ??= refresh(context).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  };
  return { ...rest, onUnauthorized };
}

function plain(provider: McpAuthProvider): Auth {
  const token = async (): Promise<string | undefined> => provider.token();
  if (provider.onUnauthorized === undefined) return { token };
  return { token, onUnauthorized: async (context) => provider.onUnauthorized?.(context as never) };
}

interface Tokens {
  readonly access_token?: string;
  readonly scope?: string;
}

function oauth(provider: McpOAuthProvider, client: ClientPackage): Auth {
  const { auth, extractWWWAuthenticateParams, computeScopeUnion, isStrictScopeSuperset, UnauthorizedError } = client;
  const tokens = async (): Promise<Tokens> => ((await provider.tokens()) as Tokens | undefined) ?? {};
  const token = async (): Promise<string | undefined> => (await tokens()).access_token;
  return {
    token,
    async onUnauthorized({ response, serverUrl, fetchFn }) {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      const asked = {
        serverUrl,
        fetchFn,
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        ...(scope && { scope }),
      };
      if ((await auth(provider as never, asked)) !== "AUTHORIZED") throw new UnauthorizedError();
    },
    async widen(response, serverUrl) {
      const { error, resourceMetadataUrl, scope: missing } = extractWWWAuthenticateParams(response);
      if (error !== "insufficient_scope") return undefined;
      const { scope: held } = await tokens();
      const scope = computeScopeUnion(held, missing);
      const asked = {
        ...{ serverUrl, forceReauthorization: isStrictScopeSuperset(scope, held) },
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        ...(scope && { scope }),
      };
      return (await auth(provider as never, asked)) === "AUTHORIZED" ? token() : undefined;
    },
  };
}
