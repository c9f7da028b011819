// The description of this peer, for the harness, which does not load it.
export const peer = {
  tracing: "optional",
  imports: [
    { label: "ai", modules: ["ai"] },
    { label: "zod", modules: ["zod"] },
    { label: "otel sdk-trace-base", modules: ["@opentelemetry/sdk-trace-base"] },
  ],
  sizes: [
    { label: "ai, zod", packages: ["ai", "zod"] },
    { label: "zod", packages: ["zod"] },
  ],
};
