// Credentials for MCP servers: shared refreshes, and no way to another address.
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { mcpTools } from "../../src/doors/peers/mcp.ts";
import { Agent } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { type HttpServer, serveHttp } from "./http-server.ts";

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "t", version: "1" }, { capabilities: { tools: {} } });
  const inputSchema = fromJsonSchema({ type: "object", properties: {} } as never);
  server.registerTool("ping", { inputSchema }, () => ({ content: [{ type: "text", text: "pong" }] }));
  return server;
});

/** A server that takes only the current token. */
function guarded(current: () => string): Promise<HttpServer> {
  return serveHttp(async (request) => {
    if (request.headers.get("authorization") !== `Bearer ${current()}`)
      return new Response("no", { status: 401, headers: { "www-authenticate": "Bearer" } });
    return handler.fetch(request);
  });
}

test("calls that are refused with 401 at the same time share one refresh", async () => {
  let [valid, held, refreshes] = ["t1", "t1", 0];
  await using server = await guarded(() => valid);
  const authProvider = {
    token: async () => held,
    async onUnauthorized() {
      refreshes++;
      await new Promise((resolve) => setTimeout(resolve, 50));
      held = valid;
    },
  };
  await using mcp = mcpTools({ name: "s", url: server.url, authProvider });
  const tools = await mcp.tools();
  valid = "t2";
  const toolCalls = Array.from({ length: 8 }, () => ({ name: "s__ping" }));
  const model = scriptedModel([{ toolCalls }, "Done."]);
  await new Agent({ model, tools }).run("Go.");
  const results = model.requests[1]?.messages.filter(({ role }) => role === "tool");
  expect(results?.map(({ content }) => content)).toEqual(Array(8).fill("pong"));
  expect(refreshes).toBe(1);
});

test("an OAuth provider refreshes once for all calls", async () => {
  let [valid, refreshes] = ["t1", 0];
  let tokens = { access_token: "t1", token_type: "Bearer", refresh_token: "r1" };
  await using issuer = await serveHttp(async (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname === "/token") {
      refreshes++;
      return Response.json({ access_token: valid, token_type: "Bearer", refresh_token: `r${refreshes + 1}` });
    }
    const metadata = {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      response_types_supported: ["code"],
    };
    return pathname.includes("oauth-authorization-server")
      ? Response.json(metadata)
      : new Response("", { status: 404 });
  });
  const { origin } = new URL(issuer.url);
  await using server = await serveHttp(async (request) => {
    if (request.url.includes("oauth-protected-resource"))
      return Response.json({ resource: new URL("/mcp", request.url).href, authorization_servers: [origin] });
    if (request.headers.get("authorization") !== `Bearer ${valid}`) return new Response("no", { status: 401 });
    return handler.fetch(request);
  });
  const authProvider = {
    redirectUrl: "http://127.0.0.1/callback",
    clientMetadata: { redirect_uris: ["http://127.0.0.1/callback"] },
    clientInformation: async () => ({ client_id: "us" }),
    tokens: async () => tokens,
    saveTokens: async (saved: typeof tokens) => {
      tokens = saved;
    },
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => "",
  };
  await using mcp = mcpTools({ name: "s", url: server.url, authProvider });
  const tools = await mcp.tools();
  valid = "t2";
  const toolCalls = Array.from({ length: 5 }, () => ({ name: "s__ping" }));
  const model = scriptedModel([{ toolCalls }, "Done."]);
  await new Agent({ model, tools }).run("Go.");
  expect(model.requests[1]?.messages.filter(({ content }) => content === "pong")).toHaveLength(5);
  expect([refreshes, tokens.refresh_token]).toEqual([1, "r2"]);
});

test("a redirect is not followed with credentials, even within the server", async () => {
  await using elsewhere = await serveHttp((request) => handler.fetch(request));
  for (const target of [elsewhere.url, "/other"]) {
    await using server = await serveHttp(() => new Response(null, { status: 307, headers: { location: target } }));
    await using mcp = mcpTools({ name: "s", url: server.url, headers: { "x-api-key": "secret" } });
    await expect(mcp.tools()).rejects.toMatchObject({
      code: "mcp-failed",
      message: expect.stringContaining("Credentials are not sent there"),
    });
  }
  expect(elsewhere.requests).toEqual([]);
});

test("headers go with every request", async () => {
  await using server = await serveHttp((request) => handler.fetch(request));
  await using mcp = mcpTools({ name: "s", url: server.url, headers: { "x-api-key": "secret" } });
  await mcp.tools();
  expect(server.requests.every(({ headers }) => headers["x-api-key"] === "secret")).toBe(true);
});

test("refused credentials are an error of the server", async () => {
  await using server = await guarded(() => "other");
  await using mcp = mcpTools({ name: "s", url: server.url, authProvider: { token: async () => "wrong" } });
  await expect(mcp.tools()).rejects.toMatchObject({ code: "mcp-failed" });
});
