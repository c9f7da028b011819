// What the harness must know of this peer without loading it.
export const peer = {
  tracing: "optional",
  imports: [
    { label: "(bare node)", modules: ["node:fs"] },
    { label: "node:sqlite", modules: ["node:sqlite"] },
  ],
  sizes: [],
};
