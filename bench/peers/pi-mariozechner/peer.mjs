// The description of this peer, for the harness, which does not load it.
export const peer = {
  tracing: "never",
  imports: [{ label: "@mariozechner/pi-agent-core", modules: ["@mariozechner/pi-agent-core"] }],
  sizes: [{ label: "@mariozechner/pi-agent-core", packages: ["@mariozechner/pi-agent-core"] }],
};
