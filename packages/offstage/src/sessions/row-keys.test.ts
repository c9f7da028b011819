import fc from "fast-check";
import { expect, test } from "vitest";
import { idKey, keyNumber, listNames, numberKey, ownerOf } from "./row-keys.ts";

const anyText = fc.string({ unit: "binary", maxLength: 200 });

test("any id becomes a short printable key without separators, and different ids have different keys", () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      expect(idKey(a)).toMatch(/^[\w~-]{0,96}$/);
      expect(idKey(a) === idKey(b)).toBe(a === b);
    }),
    { numRuns: 2_000 },
  );
});

test("number keys sort in the order of the numbers, and can be decoded", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (a, b) => {
      expect(Math.sign(a - b)).toBe(numberKey(a) < numberKey(b) ? -1 : numberKey(a) > numberKey(b) ? 1 : 0);
      expect(keyNumber(`${numberKey(a)}.rest`)).toBe(a);
    }),
  );
});

test("namespaces have no list in common", () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, anyText, (space, id, otherSpace, otherId) => {
      fc.pre(space !== otherSpace || id !== otherId);
      expect(listNames(space).messages(id)).not.toBe(listNames(otherSpace).messages(otherId));
    }),
  );
});

test("the owner of a list is derived from its name", () => {
  fc.assert(
    fc.property(anyText, anyText, (space, id) => {
      const lists = listNames(space);
      const all = [lists.activity, lists.head(id), lists.messages(id), lists.runs(id), lists.steps(id)];
      for (const list of all.slice(1)) expect(ownerOf(list)?.lists).toEqual(all);
      for (const list of [lists.activity, lists.run(id), lists.trace(id), lists.looseTraces])
        expect(ownerOf(list)).toEqual({ lists: [list] });
    }),
  );
  for (const list of ["e", "schema"]) expect(ownerOf(list)).toBeUndefined();
});
