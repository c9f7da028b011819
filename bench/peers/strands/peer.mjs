// What the harness must know of this peer without loading it.
export const peer = {
  tracing: "optional",
  imports: [{ label: "@strands-agents/sdk", modules: ["@strands-agents/sdk"] }],
  sizes: [{ label: "@strands-agents/sdk", packages: ["@strands-agents/sdk"] }],
};
