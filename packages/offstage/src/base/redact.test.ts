import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor } from "./redact.ts";

const redact = redactor();

describe("the redactor", () => {
  test("hides the value of a secret name in pairs and in name and value fields", () => {
    const value = {
      headers: [
        ["authorization", "abc"],
        ["accept", "text/html"],
      ],
      rawHeaders: ["Host", "x.y", "X-Api-Key", "abc", "Accept", "a"],
      env: [
        { name: "DB_PASSWORD", value: "abc" },
        { value: 5, key: "pin" },
        { name: "HOME", value: "/root" },
      ],
      schema: { required: ["password", "email"], enum: ["token", "cookie"] },
      tags: ["password", "reset", "form"],
    };
    expect(redact(value)).toEqual({
      ...value,
      headers: [["authorization", "[redacted]"], value.headers[1]],
      rawHeaders: ["Host", "x.y", "X-Api-Key", "[redacted]", "Accept", "a"],
      env: [{ name: "DB_PASSWORD", value: "[redacted]" }, { value: "[redacted]", key: "pin" }, value.env[2]],
    });
  });

  test("hides every value of a secret name, and searches all other values", () => {
    const value = {
      list: [{ Password: "x", ok: 1 }],
      "X-Api-Key": 5,
      accessToken: { a: 1 },
      tokenCount: 3,
      isSecret: true,
      pin: null,
    };
    expect(redact(value)).toEqual({
      list: [{ Password: "[redacted]", ok: 1 }],
      "X-Api-Key": "[redacted]",
      accessToken: "[redacted]",
      tokenCount: 3,
      isSecret: true,
      pin: null,
    });
  });

  test("returns the value itself if there is nothing to hide", () => {
    const clean = { a: [1, "x", { b: null }], date: new Date(0) };
    expect(redact(clean)).toBe(clean);
    expect(redact(undefined)).toBe(undefined);
  });

  test("stops at cycles, great depth and very long names", () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle.b = [circle, circle];
    expect(redact(circle)).toEqual({ a: 1, b: ["[redacted]", "[redacted]"] });
    expect(JSON.stringify(redact(JSON.parse("[".repeat(5000) + "]".repeat(5000))))).toContain("[redacted]");
    expect(redact({ [`${"a_".repeat(100_000)}password`]: "x" })).toEqual({
      [`${"a_".repeat(100_000)}password`]: "[redacted]",
    });
  });

  test("does not change its argument", () => {
    const value = Object.freeze({ password: "x", list: Object.freeze(["sk-abcdefghijklmnopqrst"]) });
    expect(redact(value)).toEqual({ password: "[redacted]", list: ["[redacted]"] });
  });

  test("accepts additional names, patterns and another replacement", () => {
    const own = redactor({ keys: ["Customer-Id"], patterns: [/\d{4}-\d{4}/y], replacement: "***" });
    expect(own({ customer_id: "abc", note: "card 1234-5678 and 8765-4321" })).toEqual({
      customer_id: "***",
      note: "card *** and ***",
    });
    expect(own('{"customerId":"abc"}')).toBe('{"customerId":"***"}');
  });

  test("refuses unknown options and values that do not fit", () => {
    const wrong = (options: unknown) => () => redactor(options as object);
    expect(wrong({ key: ["a"] })).toThrow('Unknown redactor option "key". Valid options: keys, patterns, replacement.');
    expect(wrong({ keys: "a" })).toThrow('"keys" must be a list of names; found "a".');
    expect(wrong({ patterns: ["a"] })).toThrow('"patterns" must be a list of RegExps; found a list.');
    expect(wrong({ replacement: 5 })).toThrow('"replacement" must be text; found 5.');
    expect(wrong(null)).toThrow("The redactor options must be an object; found null.");
    expect(redactor({ keys: undefined })("a")).toBe("a");
  });

  test("never throws, and keeps JSON valid", () => {
    fc.assert(
      fc.property(fc.anything(), fc.jsonValue(), (value, json) => {
        redact(value);
        JSON.parse(JSON.stringify(redact(json)));
      }),
      { numRuns: 500 },
    );
  });
});
