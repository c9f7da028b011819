import { describe, expect, test, vi } from "vitest";
import { Agent, type AgentOptions, user } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import type { Download } from "./downloads.ts";
import type { Model } from "./model.ts";
import type { SupportedUrls } from "./provider-rules.ts";

const url = "https://a.example/cat?key=secret";
const image = user([{ type: "image_url", image_url: { url } }]);
const png = "iVBORw0KGgo=";

function agentWith(
  supportedUrls: SupportedUrls | undefined,
  options: Partial<AgentOptions> & { provider?: string } = {},
) {
  const { provider = "some.chat", ...rest } = options;
  const script = scriptedModel(["A cat.", "Yes."], { provider });
  const model: Model = { ...script, ...(supportedUrls && { supportedUrls }) };
  const agent = new Agent({ model, ...rest });
  const sent = () => script.requests.map(({ options: { prompt } }) => prompt.at(0)?.content);
  return { agent, sent };
}

describe("a file at a URL", () => {
  test("is passed on if the model fetches it itself", async () => {
    const download = vi.fn<Download>();
    const { agent, sent } = agentWith({ "image/*": [/^https:/] }, { download });
    await agent.run(image);
    expect(sent()[0]).toMatchObject([{ mediaType: "image/*", data: { type: "url" } }]);
    expect(download).not.toHaveBeenCalled();
  });

  test("is downloaded by the agent's function otherwise, once per URL and run", async () => {
    const download = vi.fn<Download>(async () => ({ data: png, mediaType: "image/png; charset=binary" }));
    const { agent, sent } = agentWith({ "image/*": [/^s3:/] }, { download });
    await agent.run([image, image]);
    expect(sent()[0]).toEqual([{ type: "file", mediaType: "image/png", data: { type: "data", data: png } }]);
    expect(download).toHaveBeenCalledOnce();
    expect(download).toHaveBeenCalledWith(url, { signal: expect.any(AbortSignal), mediaType: "image/*" });
    await agent.run(image);
    expect(download).toHaveBeenCalledTimes(2);
  });

  test("is refused if there is no such function, with an error that hides its query", async () => {
    const { agent, sent } = agentWith({ "image/*": [/^s3:/] });
    const error = await agent.run(image).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "invalid-message" });
    expect(String(error)).toContain(
      '"some.chat" does not fetch "https://a.example/cat". Pass the agent a "download" function',
    );
    expect(String(error)).not.toContain("secret");
    expect(sent()).toEqual([]);
  });

  test("is passed on if it is an image and the model says nothing", async () => {
    for (const urls of [undefined, {}]) {
      const { agent, sent } = agentWith(urls);
      await agent.run(image);
      expect(sent()[0]).toMatchObject([{ data: { type: "url" } }]);
    }
  });

  test("is never passed on to Ollama, whose packages list what its server cannot fetch", async () => {
    const { agent } = agentWith({ "image/*": [/^https:/] }, { provider: "ollama" });
    await expect(agent.run(image)).rejects.toMatchObject({ code: "invalid-message" });
  });

  test("of a type that the provider does not take becomes a marker, before or after the download", async () => {
    const download = vi.fn<Download>(async () => ({ data: new Uint8Array(4), mediaType: "audio/wav" }));
    const { agent, sent } = agentWith({}, { provider: "mistral.chat", download });
    const page = user([{ type: "file", mediaType: "application/pdf", url: "http://a.example/page" }]);
    await agent.run(page);
    expect(sent()[0]).toMatchObject([{ type: "text", text: expect.stringContaining("takes no audio") }]);
    await agent.run(user([{ type: "file", mediaType: "audio/wav", url: "https://a.example/song?key=secret" }]));
    expect(JSON.stringify(sent()[1])).toMatch(/audio\/wav, https:\/\/a.example\/song, not shown/);
    expect(download).toHaveBeenCalledOnce();
  });
});

describe("a download that fails", () => {
  test.for([
    ["rejects", () => Promise.reject(new Error("404"))],
    ["returns nothing", () => Promise.resolve(undefined)],
    ["returns no type", () => Promise.resolve({ data: png })],
  ] as const)("fails the run with a clear error if it %s", async ([, download]) => {
    const { agent } = agentWith({ "image/*": [/^s3:/] }, { download: download as unknown as Download });
    const error = await agent.run(image).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "run-failed", message: expect.stringMatching(/download/) });
    expect(String(error)).not.toContain("secret");
  });

  test("is not waited for after an abort", async () => {
    const { agent } = agentWith({ "image/*": [/^s3:/] }, { download: () => new Promise(() => undefined) });
    await expect(agent.run(image, { signal: AbortSignal.timeout(20) })).rejects.toThrow(/timeout/i);
  });
});
