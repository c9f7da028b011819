import { describe, expect, test } from "vitest";
import { fitsMediaType, listsUrl, rulesOf } from "./provider-rules.ts";

test.for([
  ["google.generative-ai", "google"],
  ["google.vertex.chat", "google"],
  ["google.vertex.anthropic.messages", "anthropic"],
  ["amazon-bedrock", "bedrock"],
  ["bedrock.anthropic.messages", "anthropic"],
  ["openai.chat", "openai"],
  ["openai.responses", "openai.responses"],
] as const)("the provider %s has the rules of %s", ([provider, same]) => {
  expect(rulesOf(provider)).toBe(rulesOf(same));
});

test("a name that only begins with the same letters is another provider", () => {
  expect(rulesOf("googlish.chat")).toBe(rulesOf("anything-else"));
  expect(rulesOf("")).toBe(rulesOf("another"));
});

describe("media types", () => {
  test.for([
    ["image/png", ["image/*"], true],
    ["image/png", ["image/jpeg"], false],
    ["image/*", ["image/jpeg"], true],
    ["audio/wav", ["image/*", "application/pdf"], false],
    ["audio/wav", ["*/*"], true],
  ] as const)("%s among %j: %s", ([mediaType, patterns, fits]) => {
    expect(fitsMediaType(mediaType, patterns)).toBe(fits);
  });
});

test.for([
  ["https://a.example/b.png", "image/png", true],
  ["https://a.example/b.png", "image/*", true],
  ["http://a.example/b.png", "image/png", false],
  ["https://a.example/b.pdf", "application/pdf", false],
  ["https://files.example/x", "application/pdf", true],
] as const)("a model fetches %s as %s: %s", ([url, mediaType, isListed]) => {
  const urls = { "image/*": [/^https:/], "*": [/^https:\/\/files\.example/] };
  expect(listsUrl(urls, url, mediaType)).toBe(isListed);
});
