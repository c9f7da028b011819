// The description of this peer, for the harness, which does not load it.
export const peer = {
  tracing: "always",
  imports: [{ label: "@voltagent/core", modules: ["@voltagent/core"] }],
  sizes: [
    { label: "@voltagent/core, ai, zod", packages: ["@voltagent/core", "ai", "zod"] },
    { label: "@voltagent/core, libsql, ai, zod", packages: ["@voltagent/core", "@voltagent/libsql", "ai", "zod"] },
  ],
};
