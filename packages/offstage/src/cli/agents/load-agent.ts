// Loads agents from a module of the user: its default export is an agent, or a list or an object of several.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isObject } from "../../base/json.ts";
import { messageOf } from "../../errors.ts";
import type { Agent } from "../../index.ts";
import { UsageError } from "../arguments.ts";
import type { Io } from "../io.ts";

export const agentOption = {
  type: "string",
  value: "file",
  text: "a module whose default export is an agent, or several: ./agent.ts",
} as const;

/** The agents of a module. Nothing else of the command line runs code of the user. */
export async function loadAgents({ world: { cwd } }: Io, path: string): Promise<readonly Agent[]> {
  const file = resolve(cwd, path);
  if (!existsSync(file)) throw new UsageError(`There is no file "${path}" to load an agent from.`);
  const exported = await importModule(path, file);
  const found = isAgent(exported)
    ? [exported]
    : isObject(exported) || Array.isArray(exported)
      ? Object.values(exported)
      : [];
  const agents = found.filter(isAgent);
  if (agents.length > 0) return agents;
  throw new UsageError(`The default export of "${path}" is no agent. Write: export default new Agent({ … })`);
}

async function importModule(path: string, file: string): Promise<unknown> {
  try {
    return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (error) {
    const isTypeScript = (error as { code?: unknown }).code === "ERR_UNKNOWN_FILE_EXTENSION";
    const hint = isTypeScript
      ? ` Node ${process.versions.node} runs no TypeScript: use Node 22.18 or later, or a .js file.`
      : "";
    throw new UsageError(`"${path}" cannot be loaded: ${messageOf(error)}${hint}`);
  }
}

// It may be of another copy of the package, so its class says nothing.
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  const { name, stream, resumeStream } = value as Partial<Agent>;
  return typeof name === "string" && typeof stream === "function" && typeof resumeStream === "function";
}

/** The agent with a name; the only one, if there is one. */
export function agentNamed(agents: readonly Agent[], name: string, path: string): Agent {
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const names = agents.map((agent) => `"${agent.name}"`).join(", ");
  throw new UsageError(
    `"${path}" has no agent "${name}", only ${names}. A run is continued by the agent that began it.`,
  );
}
