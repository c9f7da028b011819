import { afterEach, expect, test, vi } from "vitest";
import { printError, reportError } from "./report-error.ts";

const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
afterEach(() => warnings.mockClear());

test("an error is printed as a warning, without control characters and without known secrets", () => {
  printError(new Error("\u001b[31mkey sk-proj-abcdefghijklmnopqrstuvwxyz012345 refused"));
  const [text] = warnings.mock.calls[0] as unknown as [string];
  expect(text).toMatch(/^A memory continued after an error: /);
  expect(text).not.toContain("\u001b");
  expect(text).not.toContain("sk-proj-abcdefghijklmnopqrstuvwxyz012345");
});

test("a listener is called at once", () => {
  const onError = vi.fn();
  reportError(onError, "broken");
  expect(onError).toHaveBeenCalledExactlyOnceWith("broken");
});

test.for([
  [
    "throws",
    () => {
      throw new Error("listener broken");
    },
  ],
  ["rejects", () => Promise.reject(new Error("listener broken"))],
] as const)("a listener that %s is printed, and harms nothing", async ([, onError]) => {
  reportError(onError, "broken");
  await vi.waitFor(() => expect(warnings).toHaveBeenCalledOnce());
  expect(warnings.mock.calls[0]?.[0]).toContain("listener broken");
});
