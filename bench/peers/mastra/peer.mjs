// The description of this peer, for the harness, which does not load it.
export const peer = {
  tracing: "optional",
  imports: [
    { label: "@mastra/core/agent", modules: ["@mastra/core/agent"] },
    { label: "@mastra/core", modules: ["@mastra/core"] },
    { label: "@mastra agent, memory, libsql", modules: ["@mastra/core/agent", "@mastra/memory", "@mastra/libsql"] },
  ],
  sizes: [
    { label: "@mastra/core, zod", packages: ["@mastra/core", "zod"] },
    {
      label: "@mastra/core, memory, libsql, zod",
      packages: ["@mastra/core", "@mastra/memory", "@mastra/libsql", "zod"],
    },
  ],
};
