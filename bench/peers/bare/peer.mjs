// The description of this peer, for the harness, which does not load it.
export const peer = {
  tracing: "optional",
  imports: [
    { label: "(bare node)", modules: ["node:fs"] },
    { label: "node:sqlite", modules: ["node:sqlite"] },
  ],
  sizes: [],
};
