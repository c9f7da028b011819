import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor } from "./redact.ts";

const redact = redactor();

const secrets = [
  "sk-abcdefghijklmnopqrstuvwx",
  "sk-ant-api03-abcdefghijklmnopqrstuvwx",
  "sk_live_abcdefghijklmnop",
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "github_pat_abcdefghijklmnopqrstuv",
  "glpat-abcdefghijklmnopqrst",
  "AKIAIOSFODNN7EXAMPLE",
  `AIza${"a".repeat(35)}`,
  "ya29.abcdefghijklmnopqrstuv",
  "xoxb-1234567890-abcdef",
  `npm_${"a".repeat(36)}`,
  `hf_${"a".repeat(34)}`,
  "SG.abcdefghijklmnopqr.abcdefghijklmnopqr",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_ghi",
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----",
];

describe("the redactor", () => {
  test.for(secrets)("takes %s out of text", (secret) => {
    for (const text of [
      secret,
      `before ${secret} after`,
      `x=${secret}`,
      JSON.stringify({ note: secret }),
      `tool_${secret}`,
    ]) {
      expect(redact(text)).not.toContain(secret.slice(4, 20));
      expect(redact(text)).toContain("[redacted]");
    }
  });

  test.for([
    ["OPENAI_API_KEY=abc123", "OPENAI_API_KEY=[redacted]"],
    ['{"api_key":"hunter2","max_tokens":5}', '{"api_key":"[redacted]","max_tokens":5}'],
    ['{"password":"ab,c\\"d}e","b":1}', '{"password":"[redacted]","b":1}'],
    ['{"args":"{\\"password\\":\\"hun ter2\\",\\"b\\":1}"}', '{"args":"{\\"password\\":\\"[redacted]\\",\\"b\\":1}"}'],
    ["{'token': 'abc'}", "{'token': '[redacted]'}"],
    ["Authorization: Bearer abcdefghijkl", "Authorization: [redacted]"],
    ["curl -H 'authorization: Basic YWxhZGRpbjpvcGVu'", "curl -H 'authorization: [redacted]'"],
    ["postgres://bob:s3cret@host/db", "postgres://bob:[redacted]@host/db"],
    ["https://x.y/?api_key=abc&page=2", "https://x.y/?api_key=[redacted]&page=2"],
    ["Server=a;Password=xyz;Database=b", "Server=a;Password=[redacted];Database=b"],
    ["Set-Cookie: a=b; c=d", "Set-Cookie:[redacted]"],
    ['{"secret":"cut off', '{"secret":"[redacted]"'],
    ["githubToken: abc", "githubToken: [redacted]"],
  ] as const)("turns %j into %j", ([text, clean]) => {
    expect(redact(text)).toBe(clean);
    expect(redact(clean)).toBe(clean);
  });

  test.for([
    "total_tokens: 55, token_count: 3, max_tokens = 4",
    "The password was changed yesterday.",
    "a token of appreciation",
    "sk-short",
    '{"tokens":12,"secretary":"Ann","keyboard":"de"}',
    "https://example.org/a:b@c",
    "12:30 = half past twelve",
    "",
  ])("leaves %j as it is", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("hides values under secret names, whatever they are, and looks into the rest", () => {
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

  test("returns the value itself where there is nothing to hide", () => {
    const clean = { a: [1, "x", { b: null }], date: new Date(0) };
    expect(redact(clean)).toBe(clean);
    expect(redact(undefined)).toBe(undefined);
  });

  test("stops at circles, great depth and endless names", () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle.b = [circle, circle];
    expect(redact(circle)).toEqual({ a: 1, b: ["[redacted]", "[redacted]"] });
    expect(JSON.stringify(redact(JSON.parse("[".repeat(5000) + "]".repeat(5000))))).toContain("[redacted]");
    expect(redact({ [`${"a_".repeat(100_000)}password`]: "x" })).toEqual({
      [`${"a_".repeat(100_000)}password`]: "[redacted]",
    });
  });

  test("changes nothing it is given", () => {
    const value = Object.freeze({ password: "x", list: Object.freeze(["sk-abcdefghijklmnopqrst"]) });
    expect(redact(value)).toEqual({ password: "[redacted]", list: ["[redacted]"] });
  });

  test("takes further names, patterns and another replacement", () => {
    const own = redactor({ keys: ["Customer-Id"], patterns: [/\d{4}-\d{4}/y], replacement: "***" });
    expect(own({ customer_id: "abc", note: "card 1234-5678 and 8765-4321" })).toEqual({
      customer_id: "***",
      note: "card *** and ***",
    });
    expect(own('{"customerId":"abc"}')).toBe('{"customerId":"***"}');
  });

  test("stays linear on hostile text", () => {
    const pieces = [
      "a",
      "a=",
      "-----BEGIN PRIVATE KEY-----",
      "x://a:",
      "eyJ",
      "\\",
      "password",
      "Bearer ",
      "://",
      'password=\\"',
      'a:\\\\"b',
      "a='\\",
      "Cookie: ",
    ];
    for (const piece of pieces) {
      const start = performance.now();
      redact(piece.repeat(Math.ceil(200_000 / piece.length)));
      expect(performance.now() - start, piece).toBeLessThan(1000);
    }
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
