// "offstage/mcp": the tools of MCP servers for agents, and agents and a store as an MCP server. Needs the packages
// "@modelcontextprotocol/client" and "@modelcontextprotocol/server".
export { type McpResource, type McpTools, mcpTools } from "../../mcp/client/mcp-tools.ts";
export type {
  McpAuthProvider,
  McpCall,
  McpHints,
  McpOAuthProvider,
  McpToolsOptions,
} from "../../mcp/client/options.ts";
export { type McpServer, type McpServerOptions, type McpStdioOptions, mcpServer } from "../../mcp/server/mcp-server.ts";
export type { McpAccess } from "../../mcp/server/served-tool.ts";
