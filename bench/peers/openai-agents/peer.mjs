// The description of this peer, for the harness, which does not load it.
export const peer = {
  tracing: "optional",
  imports: [{ label: "@openai/agents", modules: ["@openai/agents"] }],
  sizes: [{ label: "@openai/agents, zod", packages: ["@openai/agents", "zod"] }],
};
