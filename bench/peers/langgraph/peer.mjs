// What the harness must know of this peer without loading it.
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
