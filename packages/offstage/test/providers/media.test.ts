// What each provider receives of the content that a user sends. The table in docs/choose-a-model.md is made here.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { Agent, isOffstageError, type UnknownPart, user } from "../../src/index.ts";
import { allProviders, type TestedProvider } from "./all-providers.ts";
import { facesOf, loopback } from "./loopback-agents.ts";

const page = readFileSync(new URL("../../../../docs/choose-a-model.md", import.meta.url), "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("|"));
const versions: Record<string, string> = manifest.devDependencies;

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pdf = Buffer.from("%PDF-1.4 a page").toString("base64");
const sound = Buffer.from("RIFF....WAVEfmt a sound").toString("base64");
const imageUrl = "https://files.example/cat.png";
const pdfUrl = "https://files.example/page.pdf";

const file = (mediaType: string, url: string): UnknownPart => ({ type: "file", mediaType, url });
const inputs: Record<string, { readonly part: UnknownPart; readonly bytes: string; readonly url?: string }> = {
  image: { part: file("image/png", `data:image/png;base64,${pixel}`), bytes: pixel },
  "image at a URL": { part: file("image/png", imageUrl), bytes: pixel, url: imageUrl },
  PDF: { part: file("application/pdf", `data:application/pdf;base64,${pdf}`), bytes: pdf },
  "PDF at a URL": { part: file("application/pdf", pdfUrl), bytes: pdf, url: pdfUrl },
  audio: { part: file("audio/wav", `data:audio/wav;base64,${sound}`), bytes: sound },
};

/** How a part arrives: as bytes, by its URL, as bytes after a download, or as a marker. */
async function received(provider: TestedProvider, { part, bytes, url }: (typeof inputs)[string]): Promise<string> {
  const [runs] = facesOf(provider);
  const message = user([{ type: "text", text: "What is this?" }, part]);
  const download = async () => ({ data: bytes, mediaType: String(part.mediaType) });
  await using at = await loopback(provider, [{ text: ["Seen."] }], { download, tools: [] });
  await runs?.play(at.agent, message);
  const body = JSON.stringify(at.server.requests[0]?.body);
  expect(body).toContain("What is this?");
  if (body.includes("not shown")) return "a marker";
  const isUrl = url !== undefined && body.includes(url);
  expect(isUrl).not.toBe(body.includes(bytes));
  if (isUrl) return "URL";
  return url === undefined ? "bytes" : "downloaded";
}

describe.each(allProviders)("$name", (provider) => {
  test("the page has a row with what it receives", async () => {
    const cells: string[] = [];
    for (const input of Object.values(inputs)) cells.push(await received(provider, input));
    const row = [provider.name, `\`${provider.package}\` ${versions[provider.package]}`, ...cells];
    expect(rows).toContain(`| ${row.join(" | ")} |`);
  });

  test("without a download, a URL that it does not fetch is refused before anything is sent", async () => {
    await using server = await provider.serve([{ text: ["Seen."] }]);
    const agent = new Agent({ model: provider.model(server.url) });
    const error = await agent
      .run(user([file("application/pdf", `${pdfUrl}?key=secret`)]))
      .catch((error: unknown) => error);
    if (!isOffstageError(error)) return;
    expect(error.code).toBe("invalid-message");
    expect(error.message).toContain(pdfUrl);
    expect(error.message).not.toContain("secret");
    expect(server.requests).toEqual([]);
  });
});

test("the page has the head of the table", () => {
  expect(rows).toContain(`| provider | package | ${Object.keys(inputs).join(" | ")} |`);
});
