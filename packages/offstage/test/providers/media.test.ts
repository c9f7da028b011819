// What each provider receives of the content that a user sends and a tool returns. The tables in docs/choose-a-model.md are made here.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { audio, file as filePart, image, text } from "../../src/doors/tools.ts";
import { Agent, type ContentPart, isOffstageError, tool, type UnknownPart, user } from "../../src/index.ts";
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

const returned: Record<string, { readonly part: ContentPart; readonly bytes: string }> = {
  text: { part: text("rather cold"), bytes: "rather cold" },
  image: { part: image(pixel, "image/png"), bytes: pixel },
  PDF: { part: filePart(pdf, "application/pdf", { filename: "page.pdf" }), bytes: pdf },
  audio: { part: audio(sound, "audio/wav"), bytes: sound },
};

const made: string[] = [];

/** How a part of a tool's result arrives: as text, as bytes in the result or behind it, or as a marker. */
async function receivedFromTool(provider: TestedProvider, { part, bytes }: (typeof returned)[string]): Promise<string> {
  const [runs] = facesOf(provider);
  const look = tool({ name: "look", execute: () => [text("What I saw:"), part] });
  const script = [{ calls: [{ id: "look00001", name: "look", input: {} }] }, { text: ["Seen."] }];
  await using at = await loopback(provider, script, { tools: [look] });
  await runs?.play(at.agent, "Look.");
  const body = JSON.stringify(at.server.requests[1]?.body);
  expect(body).toContain("What I saw:");
  if (part.type === "text") return body.includes("rather cold") && !body.includes('\\"type\\"') ? "text" : "?";
  if (body.includes("not shown")) {
    expect(body).not.toContain(bytes);
    return "a marker";
  }
  expect(body).toContain(bytes);
  return body.includes("shown below") ? "behind the result" : "in the result";
}

describe.each(allProviders)("$name", (provider) => {
  test("the page has a row with what it receives from a tool", async () => {
    const cells: string[] = [];
    for (const each of Object.values(returned)) cells.push(await receivedFromTool(provider, each));
    const row = `| ${[provider.name, ...cells].join(" | ")} |`;
    made.push(row);
    expect(rows).toContain(row);
  });

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

test("the page has the heads of the tables", () => {
  expect(rows).toContain(`| provider | package | ${Object.keys(inputs).join(" | ")} |`);
  const head = `| provider | ${Object.keys(returned)
    .map((kind) => `${kind} from a tool`)
    .join(" | ")} |`;
  process.stdout.write(`${[head, ...made].join("\n")}\n`);
  expect(rows).toContain(head);
});
