// The client of the conformance suite: connects to the server that it is given, and calls every tool with made-up input.
import { auth, type OAuthClientProvider } from "@modelcontextprotocol/client";
import { mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent, isOffstageError } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const url = process.argv.at(-1) as string;
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as { client_id?: string; client_secret?: string };

/** A provider whose user agrees at once. */
function provider(): OAuthClientProvider & { code: string | undefined } {
  const kept = new Map<string, unknown>();
  const keep = (name: string) => (value: unknown) => void kept.set(name, value);
  const find = (name: string) => () => kept.get(name) as never;
  if (given.client_id !== undefined) keep("client")({ client_id: given.client_id, client_secret: given.client_secret });
  return {
    code: undefined,
    redirectUrl: "http://127.0.0.1:1/callback",
    clientMetadata: { redirect_uris: ["http://127.0.0.1:1/callback"], client_name: "offstage" },
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    clientInformation: find("client"),
    saveClientInformation: keep("client"),
    tokens: find("tokens"),
    saveTokens: keep("tokens"),
    codeVerifier: find("verifier"),
    saveCodeVerifier: keep("verifier"),
    discoveryState: find("discovery"),
    saveDiscoveryState: keep("discovery"),
    async redirectToAuthorization(address) {
      const { headers } = await fetch(address, { redirect: "manual" });
      this.code = new URL(headers.get("location") ?? "").searchParams.get("code") ?? undefined;
    },
  };
}

const authProvider = scenario.startsWith("auth/") ? provider() : undefined;
await using mcp = mcpTools({ name: "s", url, timeoutMs: 20_000, authProvider });

/** Does what an application does after its user has agreed. */
async function authorized<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOffstageError(error, "mcp-failed") || authProvider?.code === undefined) throw error;
    await auth(authProvider, { serverUrl: url, authorizationCode: authProvider.code });
    authProvider.code = undefined;
    return work();
  }
}

const inputs: Record<string, object> = { s__add_numbers: { a: 5, b: 3 } };
const tools = await authorized(() => mcp.tools());
for (const { name } of tools) {
  await authorized(async () => {
    const model = scriptedModel([{ toolCalls: [{ name, input: inputs[name] ?? {} }] }, "Done."]);
    // A person who agrees to everything, with the defaults of the form.
    const onApproval = async () => ({ value: {} });
    const { steps } = await new Agent({ model, tools }).run("Go.", { onApproval });
    const { error } = steps[0]?.toolResults[0] ?? {};
    if (error !== undefined) throw error;
  });
}
