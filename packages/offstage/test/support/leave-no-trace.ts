// Checks after each test file that it left its process as it found it, since the next file runs in the same one.
import { afterAll, expect } from "vitest";

const owners = {
  ...{ globalThis, console, Math, Date, JSON, Object, Array, Promise, Error },
  "Object.prototype": Object.prototype,
  "Array.prototype": Array.prototype,
};
const before = stateOfProcess();

afterAll(() => {
  const after = stateOfProcess();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => !Object.is(before.get(name), after.get(name)) && !isNewGlobal(name),
  );
  expect(changed.join(", "), "This file changed its process and did not undo it.").toBe("");
});

function stateOfProcess(): ReadonlyMap<string, unknown> {
  const state = new Map<string, unknown>([["process.cwd()", process.cwd()]]);
  for (const [name, value] of Object.entries(process.env)) state.set(`process.env.${name}`, value);
  for (const event of process.eventNames()) state.set(`listeners of ${String(event)}`, process.listenerCount(event));
  // Without calling the getter, which may load a part of Node.
  for (const [owner, object] of Object.entries(owners))
    for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(object)))
      state.set(`${owner}.${name}`, get ?? value);
  return state;
}

// Packages may define a global when they are loaded.
function isNewGlobal(name: string): boolean {
  return name.startsWith("globalThis.") && !before.has(name);
}
