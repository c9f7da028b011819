// The optional packages of MCP, loaded on first use. Only this file knows their names.
import { loadPackage } from "../base/load-package.ts";

export type ClientPackage = typeof import("@modelcontextprotocol/client");
export type StdioClientPackage = typeof import("@modelcontextprotocol/client/stdio");
export type ServerPackage = typeof import("@modelcontextprotocol/server");
export type StdioServerPackage = typeof import("@modelcontextprotocol/server/stdio");

/** The package for clients. Rejects with `missing-package` if it is not installed. */
export function loadClient(): Promise<ClientPackage> {
  return load("client", () => import("@modelcontextprotocol/client"));
}

/** Its transport for servers that run as child processes. */
export function loadStdioClient(): Promise<StdioClientPackage> {
  return load("client", () => import("@modelcontextprotocol/client/stdio"));
}

/** The package for servers. Rejects with `missing-package` if it is not installed. */
export function loadServer(): Promise<ServerPackage> {
  return load("server", () => import("@modelcontextprotocol/server"));
}

/** Its transport for standard input and output. */
export function loadStdioServer(): Promise<StdioServerPackage> {
  return load("server", () => import("@modelcontextprotocol/server/stdio"));
}

/** Imports the package of one side. */
export function load<Package>(side: "client" | "server", importPackage: () => Promise<Package>): Promise<Package> {
  const user = side === "client" ? "mcpTools()" : "mcpServer()";
  return loadPackage(importPackage, { name: `@modelcontextprotocol/${side}`, user, version: "^2.4" });
}
