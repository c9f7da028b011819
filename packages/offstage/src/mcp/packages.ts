// The optional packages of MCP, loaded on first use. Only this file knows their names.
import { OffstageError } from "../errors.ts";

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

/** Imports a package; its absence rejects with an error that says what to install. */
export async function load<Package>(
  side: "client" | "server",
  importPackage: () => Promise<Package>,
): Promise<Package> {
  try {
    return await importPackage();
  } catch (cause) {
    const name = `@modelcontextprotocol/${side}`;
    const user = side === "client" ? "mcpTools()" : "mcpServer()";
    const message = `${user} needs the package "${name}". Install it: npm install ${name}@^2.4`;
    throw new OffstageError("missing-package", message, { cause });
  }
}
