// The full number of generated lists; any-input.test.ts has fewer.
import { test } from "vitest";
import { checkAnyList } from "../../test/support/any-messages.ts";

test("ten thousand lists of anything give every answer, and are the same afterwards", () => {
  checkAnyList({ numRuns: 10_000 });
});
