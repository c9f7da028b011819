// The description of this peer, for the harness, which does not load it.
export const peer = {
  tracing: "optional",
  imports: [{ label: "@strands-agents/sdk", modules: ["@strands-agents/sdk"] }],
  sizes: [{ label: "@strands-agents/sdk", packages: ["@strands-agents/sdk"] }],
};
