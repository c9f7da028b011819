// Images on the wire, in every generation of the provider interface: as a URL and as bytes.
import { createOpenAICompatible as createV2 } from "ai-sdk-openai-compatible-v2";
import { createOpenAICompatible as createV3 } from "ai-sdk-openai-compatible-v3";
import { describe, expect, test } from "vitest";
import { type ContentPart, user } from "../../src/index.ts";
import { anthropic, facesOf, loopback, openAI, type Provider } from "./loopback-agents.ts";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const url = "https://images.example/cat.jpg";

function image(source: string): ContentPart[] {
  return [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: source } },
  ];
}

function generation(name: string, create: typeof createV2 | typeof createV3): Provider {
  return { ...openAI, name, model: (baseURL) => create({ name: "old", apiKey: "key", baseURL }).chatModel("m") };
}

const openAIs = [openAI, generation("V2", createV2), generation("V3", createV3)].flatMap(facesOf);

describe.each(openAIs)("OpenAI-compatible ($name), $face", (provider) => {
  test.each([`data:image/png;base64,${pixel}`, url])("an image arrives unchanged: %s", async (source) => {
    await using at = await loopback(provider, [{ text: ["A pixel."] }]);
    const { result } = await provider.play(at.agent, user(image(source)));
    expect(result.text).toBe("A pixel.");
    expect(at.server.requests[0]?.body.messages).toEqual([{ role: "user", content: image(source) }]);
  });
});

describe.each(facesOf(anthropic))("Anthropic, $face", (provider) => {
  test.each([
    { given: `data:image/png;base64,${pixel}`, source: { type: "base64", media_type: "image/png", data: pixel } },
    { given: url, source: { type: "url", url } },
  ])("an image arrives as a block with its source: $source.type", async ({ given, source }) => {
    await using at = await loopback(provider, [{ text: ["A pixel."] }]);
    await provider.play(at.agent, user(image(given)));
    expect(at.server.requests[0]?.body.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", source },
        ],
      },
    ]);
  });
});

test("a data URL that is not base64 arrives as base64 of the same bytes", async () => {
  const [provider] = facesOf(openAI);
  await using at = await loopback(provider!, [{ text: ["A text."] }]);
  const bytes = Array.from(Buffer.from(pixel, "base64"), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  await provider!.play(at.agent, user(image(`data:image/png,${bytes}`)));
  expect(JSON.stringify(at.server.requests[0]?.body)).toContain(`data:image/png;base64,${pixel}`);
});
