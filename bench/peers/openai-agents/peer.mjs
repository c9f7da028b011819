// What the harness must know of this peer without loading it.
export const peer = {
  tracing: "optional",
  imports: [{ label: "@openai/agents", modules: ["@openai/agents"] }],
  sizes: [{ label: "@openai/agents, zod", packages: ["@openai/agents", "zod"] }],
};
