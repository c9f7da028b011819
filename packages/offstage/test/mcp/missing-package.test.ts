// Without the packages of MCP the error says what to install.
import { expect, test } from "vitest";
import { load } from "../../src/mcp/packages.ts";

test.for([
  ["client", "mcpTools()"],
  ["server", "mcpServer()"],
] as const)("without the %s package the error names it", async ([side, user]) => {
  const cause = new Error("Cannot find package");
  await expect(load(side, () => Promise.reject(cause))).rejects.toMatchObject({
    code: "missing-package",
    message: `${user} needs the package "@modelcontextprotocol/${side}". Install it: npm install @modelcontextprotocol/${side}@^2.4`,
    cause,
  });
});
