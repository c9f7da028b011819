// What the harness must know of this peer without loading it.
const BUILT = "../packages/offstage/dist/index.js";

export const peer = {
  tracing: "optional",
  builtFile: BUILT,
  imports: [
    { label: "offstage", modules: [`../../${BUILT}`] },
    {
      label: "offstage with SQLite",
      modules: [`../../${BUILT}`],
      afterwards: "await (await modules[0].PersistentSession.inMemory('s1')).close();",
    },
  ],
  sizes: [],
};
