// The description of this peer, for the harness, which does not load it.
export const peer = {
  tracing: "optional",
  imports: [
    { label: "@langchain/langgraph", modules: ["@langchain/langgraph"] },
    { label: "langchain", modules: ["langchain"] },
  ],
  sizes: [
    { label: "@langchain/langgraph", packages: ["@langchain/langgraph", "@langchain/core"] },
    { label: "langchain", packages: ["langchain", "@langchain/core", "@langchain/langgraph"] },
  ],
};
