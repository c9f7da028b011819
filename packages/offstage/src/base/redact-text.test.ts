import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor } from "./redact.ts";

const redact = redactor();

// Bodies are made here, so that no scanner takes this file for a leak.
const letters = (length: number): string => "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z".repeat(8).slice(0, length);
const hex = (length: number): string => "0123456789abcdef".repeat(8).slice(0, length);
const capitals = (length: number): string => "A1B2C3D4E5F6G7H8".repeat(8).slice(0, length);

/** Secrets by their form. Add to it whatever got through. */
const secrets: readonly string[] = [
  "sk-abcdefghijklmnopqrstuvwx",
  ...[
    `sk-ant-api03-${letters(40)}`,
    `sk-proj-${letters(48)}`,
    `sk-or-v1-${hex(64)}`,
    `sk-lf-${hex(8)}-${hex(4)}-${hex(12)}`,
  ],
  ...[`gsk_${letters(52)}`, `xai-${letters(80)}`, `pplx-${letters(48)}`, `nvapi-${letters(60)}`, `csk-${hex(48)}`],
  ...[
    `tvly-dev-${letters(32)}`,
    `r8_${letters(37)}`,
    `fw_${letters(24)}`,
    `tgp_v1_${letters(43)}`,
    `hf_${letters(34)}`,
  ],
  ...[`jina_${letters(60)}`, `fc-${hex(32)}`, `pcsk_${letters(60)}`, `lsv2_pt_${hex(32)}_${hex(10)}`],
  ...[
    "AKIAIOSFODNN7EXAMPLE",
    `ABSK${letters(60)}`,
    `AIza${letters(35)}`,
    `ya29.${letters(40)}`,
    `GOCSPX-${letters(28)}`,
  ],
  ...[`1//0${letters(40)}`, `AQ.A${letters(40)}`, `abc8Q~${letters(34)}`],
  ...[
    `ghp_${letters(36)}`,
    `github_pat_${letters(60)}`,
    `glpat-${letters(20)}`,
    `ATBB${letters(32)}`,
    `ATATT3${letters(60)}`,
  ],
  ...[`npm_${letters(36)}`, `pypi-AgE${letters(60)}`, `rubygems_${hex(48)}`, `dckr_pat_${letters(27)}`],
  ...[
    `sk_live_${letters(24)}`,
    `rk_test_${letters(24)}`,
    `whsec_${letters(32)}`,
    `sq0atp-${letters(22)}`,
    `shpat_${hex(32)}`,
  ],
  ...[`SK${hex(32)}`, `SG.${letters(22)}.${letters(43)}`, `key-${hex(32)}`, `re_${letters(8)}_${letters(24)}`],
  ...[
    "xoxb-1234567890-abcdef",
    `xapp-1-A0${capitals(9)}-${hex(40)}`,
    `hooks.slack.com/services/T${capitals(8)}/B${letters(24)}`,
  ],
  ...[
    `https://discord.com/api/webhooks/123456789012345678/${letters(60)}`,
    `MT${letters(22)}.${letters(6)}.${letters(38)}`,
  ],
  ...[
    `123456789:AA${letters(33)}`,
    `ntn_${letters(46)}`,
    `secret_${letters(43)}`,
    `lin_api_${letters(40)}`,
    `figd_${letters(40)}`,
  ],
  ...[
    `pat${letters(14)}.${hex(64)}`,
    `sk_${hex(48)}`,
    `dapi${hex(32)}`,
    `dop_v1_${hex(64)}`,
    `pscale_tkn_${letters(43)}`,
  ],
  ...[`sbp_${hex(40)}`, `sb_secret_${letters(31)}`, `hvs.${letters(24)}`, `${letters(14)}.atlasv1.${letters(67)}`],
  ...[
    `dp.pt.${letters(43)}`,
    `glsa_${letters(32)}_${hex(8)}`,
    `glc_eyJ${letters(60)}`,
    `NRAK-${capitals(27)}`,
    `sntrys_${letters(60)}`,
  ],
  ...[
    `phx_${letters(43)}`,
    `nfp_${letters(36)}`,
    `vercel_blob_rw_${letters(30)}`,
    `HRKU-${letters(36)}`,
    `sk.eyJ${letters(40)}.${letters(22)}`,
  ],
  ...[`AGE-SECRET-KEY-1${capitals(58)}`, `ops_eyJ${letters(200)}`],
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_ghi",
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----",
  "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----",
  "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.1 (GNU/Linux)\n\nlQOYBFabc+/=\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----",
];

describe("the redactor, on text", () => {
  test.for(secrets)("removes %s from text", (secret) => {
    for (const text of [
      secret,
      `before ${secret} after`,
      `x=${secret}`,
      JSON.stringify({ note: secret }),
      `tool_${secret}`,
    ]) {
      expect(redact(text)).not.toContain(secret.slice(-16));
      expect(redact(text)).toContain("[redacted]");
    }
  });

  test.for([
    ["OPENAI_API_KEY=abc123", "OPENAI_API_KEY=[redacted]"],
    ["PGPASSWORD=abc psql", "PGPASSWORD=[redacted]"],
    ["password = correct horse", "password = [redacted]"],
    ["passwords: a, b", "passwords: [redacted]"],
    ["password1: abc", "password1: [redacted]"],
    ["db_pass=abc", "db_pass=[redacted]"],
    ["SMTP_PASS: abc", "SMTP_PASS: [redacted]"],
    ["mysql --password=hunter2 --host=db", "mysql --password=[redacted] --host=db"],
    ["run --api-key=abc -v", "run --api-key=[redacted] -v"],
    ["run --api-key abc123 -v", "run --api-key [redacted] -v"],
    ["run --token 'two words' -v", "run --token '[redacted]' -v"],
    ["curl -u bob:hunter2 https://x.y", "curl -u bob:[redacted] https://x.y"],
    ['{"api_key":"hunter2","max_tokens":5}', '{"api_key":"[redacted]","max_tokens":5}'],
    ['{"password":"ab,c\\"d}e","b":1}', '{"password":"[redacted]","b":1}'],
    ['{"password":12345,"b":1}', '{"password":"[redacted]","b":1}'],
    ['{"password":null,"token":true}', '{"password":null,"token":true}'],
    ['{"args":"{\\"password\\":\\"hun ter2\\",\\"b\\":1}"}', '{"args":"{\\"password\\":\\"[redacted]\\",\\"b\\":1}"}'],
    ['{"args":"{\\"pin\\":1234}"}', '{"args":"{\\"pin\\":\\"[redacted]\\"}"}'],
    ["{'token': 'abc'}", "{'token': '[redacted]'}"],
    ['[["authorization","abc"],["host","x"]]', '[["authorization","[redacted]"],["host","x"]]'],
    ["[ 'X-Api-Key', 'abc' ]", "[ 'X-Api-Key', '[redacted]' ]"],
    ['{"name":"DB_PASSWORD","value":"abc"}', '{"name":"DB_PASSWORD","value":"[redacted]"}'],
    ['{\n  "name": "cookie",\n  "value": "a=b"\n}', '{\n  "name": "cookie",\n  "value": "[redacted]"\n}'],
    ["Authorization: Bearer abcdefghijkl", "Authorization: [redacted]"],
    ["sent Bearer abc.DEF-123_456 to it", "sent Bearer [redacted] to it"],
    ["curl -H 'authorization: Basic YWxhZGRpbjpvcGVu'", "curl -H 'authorization: [redacted]'"],
    ["postgres://bob:s3cret@host/db", "postgres://bob:[redacted]@host/db"],
    ["postgres://bob:p@ss@host/db", "postgres://bob:[redacted]@host/db"],
    ["postgres://bob:pa/ss@host/db", "postgres://bob:[redacted]@host/db"],
    ["redis://:p@s/s?#@host:6379/0", "redis://:[redacted]@host:6379/0"],
    ["https://bob:12345@host/a", "https://bob:[redacted]@host/a"],
    ["https://x.y/?api_key=abc&page=2", "https://x.y/?api_key=[redacted]&page=2"],
    [`https://x.y/?a=1&sig=${letters(20)}&b=2`, "https://x.y/?a=1&sig=[redacted]&b=2"],
    ["Server=a;Password=xyz;Database=b", "Server=a;Password=[redacted];Database=b"],
    ["Set-Cookie: a=b; c=d", "Set-Cookie:[redacted]"],
    ["curl -H 'Cookie: a=b; c=\"d\"' https://x.y", "curl -H 'Cookie:[redacted]' https://x.y"],
    ['{"header":"Cookie: a=b","x":1}', '{"header":"Cookie:[redacted]","x":1}'],
    ["PHPSESSID=abc", "PHPSESSID=[redacted]"],
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
    "a basic understanding of token validation, and bearer authentication.",
    "sk-short, sk-learn-contrib-extras, task-abcdefghijklmnopqrst",
    '{"tokens":12,"secretary":"Ann","keyboard":"de","compass":"north","bypass":"yes"}',
    '{"pass":12,"fail":3,"first_pass":"ok"}',
    '{"required":["password","email"],"type":"object"}',
    '["token","count","max"]',
    "use --token to sign in, or --password with a prompt",
    "https://example.org/a:b@c",
    "http://localhost:3000/@vite/client and http://[::1]:5173/@id",
    "git@github.com:offstage/offstage.git",
    "import { x } from 'https://esm.sh:443/@scope/pkg'",
    "12:30 = half past twelve",
    "if (password === '' || token == null) return;",
    "d41d8cd98f00b204e9800998ecf8427e",
    "550e8400-e29b-41d4-a716-446655440000",
    "call_abcdefghijklmnopqrstuvwx, msg_0123456789abcdef0123456789abcdef",
    "-----BEGIN PUBLIC KEY-----\nMIIBabc\n-----END PUBLIC KEY-----",
    "",
  ])("leaves %j as it is", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("takes linear time on hostile text", () => {
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
      '"Cookie: ',
      "sk-",
      "-sk-a",
      "http://a:1/",
      "redis://a:b@",
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n",
      "--password ",
      "--token=",
      '["password","',
      '"name":"password","value":',
      "curl -u a:",
      "Token a",
      "A",
      "0",
      "abc8Q~",
      "M.",
      "&sig=",
      "     ",
    ];
    for (const piece of pieces) {
      const start = performance.now();
      redact(piece.repeat(Math.ceil(200_000 / piece.length)));
      expect(performance.now() - start, piece).toBeLessThan(1000);
    }
  });

  test("keeps JSON valid, even JSON within JSON, and hides its secrets", () => {
    const name = fc.constantFrom("password", "api_key", "name", "value", "note", "Cookie");
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant("Cookie: a=b"));
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.constantFrom(0, 2), (fields, indent) => {
        const text = JSON.stringify({ ...fields, token: "c4n4ry" }, null, indent);
        expect(Object.keys(JSON.parse(redact(text)))).toEqual(Object.keys(JSON.parse(text)));
        const inner = JSON.parse(redact(JSON.stringify({ text })));
        expect(Object.keys(JSON.parse(inner.text))).toEqual(Object.keys(JSON.parse(text)));
        expect(inner.text).not.toContain("c4n4ry");
      }),
      { numRuns: 1000 },
    );
  });
});
