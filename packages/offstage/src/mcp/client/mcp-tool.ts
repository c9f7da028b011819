// One tool of a server as a tool of an agent.
import { type Tool, type ToolOptions, tool } from "../../tools/tool.ts";
import { valueOfResult } from "./call-result.ts";
import type { McpConnection } from "./connection.ts";
import type { Definition, ListedTool } from "./definitions.ts";
import type { McpHints, McpToolsOptions } from "./options.ts";
import { callWithQuestions } from "./questions.ts";
import { nameForModel, nameMatcher } from "./tool-names.ts";

export interface McpToolSettings {
  readonly definition: Definition;
  readonly options: McpToolsOptions;
}

/** Makes the tool. */
export function mcpTool(connection: McpConnection, listed: ListedTool, { definition, options }: McpToolSettings): Tool {
  const { name: server, trustHints = false, idempotent = [], timeoutMs = 60_000, maxResultBytes } = options;
  const hints = (listed.annotations ?? {}) as McpHints;
  const isIdempotent =
    nameMatcher(idempotent)(listed.name) ||
    (trustHints && (hints.idempotentHint === true || hints.readOnlyHint === true));
  return tool({
    name: nameForModel(server, listed.name),
    description: definition.description,
    input: definition.schema,
    timeoutMs,
    maxResultBytes,
    idempotent: isIdempotent,
    needsApproval: approvalOf(listed.name, hints, options),
    async execute(input, { signal, ask, asked }) {
      const request = { name: listed.name, arguments: input as Record<string, unknown> };
      return valueOfResult(await callWithQuestions(connection, request, { signal, isIdempotent, ask, asked }));
    },
  });
}

// A hint of a stranger skips no approval.
function approvalOf(
  name: string,
  hints: McpHints,
  { approve = "never", trustHints = false }: McpToolsOptions,
): ToolOptions<undefined, object>["needsApproval"] {
  if (typeof approve === "function") return (input) => approve({ tool: name, input, hints });
  if (approve === "unless-read-only") return !(trustHints && hints.readOnlyHint === true);
  return approve === "always";
}
