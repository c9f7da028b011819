// The description of this peer, for the harness, which does not load it.
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
