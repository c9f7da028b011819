import { describe, expect, test } from "vitest";
import type { Content } from "../messages/message.ts";
import { contentParts, resultParts, unreadableTypes } from "./content-parts.ts";

type Parts = Exclude<Content, string>;

const png = "iVBORw0KGgoAAAANSUhEUg==";
const bytes = Uint8Array.from(Buffer.from(png, "base64"));
const asImage = { type: "file", mediaType: "image/png", data: { type: "data", data: png } };
const read = (part: object) => contentParts([part] as unknown as Parts);

describe("images, in any form, are read as files with their type", () => {
  test.for([
    ["a data: URL", { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }],
    ["a data: URL without a type", { type: "image_url", image_url: { url: `data:;base64,${png}` } }],
    ["Responses", { type: "input_image", image_url: `data:image/png;base64,${png}` }],
    ["AI SDK, base64", { type: "image", image: png }],
    ["AI SDK, data: URL", { type: "image", image: `data:image/png;base64,${png}` }],
    ["AI SDK, bytes", { type: "image", image: bytes }],
    ["AI SDK, bytes after JSON", { type: "image", image: JSON.parse(JSON.stringify(bytes)) }],
    ["AI SDK, a Buffer after JSON", { type: "image", image: JSON.parse(JSON.stringify(Buffer.from(bytes))) }],
    ["AI SDK, a file", { type: "file", mediaType: "image/*", data: png }],
    ["AI SDK 7, a tagged file", { type: "file", mediaType: "image", data: { type: "data", data: png } }],
    ["UI, a file", { type: "file", mediaType: "image/png", url: `data:image/png;base64,${png}` }],
    ["MCP", { type: "image", data: png, mimeType: "image/png" }],
    ["Anthropic", { type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
  ] as const)("%s", ([, part]) => {
    expect(read(part)).toEqual([asImage]);
  });
});

describe("files at URLs have the type of their name", () => {
  test.for([
    [{ type: "image", image: "https://a.example/cat.JPG?x=1" }, "image/jpeg"],
    [{ type: "image", image: new URL("https://a.example/cat") }, "image/*"],
    [{ type: "file", url: "https://a.example/report.pdf", filename: "report.pdf" }, "application/pdf"],
    [
      { type: "file", mediaType: "application/pdf", data: { type: "url", url: "https://a.example/report" } },
      "application/pdf",
    ],
    [{ type: "image", source: { type: "url", url: "https://a.example/cat.webp" } }, "image/webp"],
  ] as const)("%j", ([part, mediaType]) => {
    expect(read(part)).toMatchObject([{ mediaType, data: { type: "url" } }]);
  });
});

test("a PDF of a chat UI keeps its name", () => {
  const part = {
    type: "file",
    mediaType: "application/pdf",
    filename: "a.pdf",
    url: "data:application/pdf;base64,JVBERi0=",
  };
  expect(read(part)).toEqual([
    { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: { type: "data", data: "JVBERi0=" } },
  ]);
});

test("parts that no provider can read are left out, and named", () => {
  const parts = [
    { type: "data-weather", data: 1 },
    { type: "source-url", url: "https://a.example" },
    { type: "text", text: "hi" },
  ];
  expect(contentParts(parts as unknown as Parts)).toEqual([{ type: "text", text: "hi" }]);
  expect(unreadableTypes(parts as unknown as Parts)).toEqual(["data-weather", "source-url"]);
});

test("unknown parts of a tool result are data for the model, so they stay as JSON text", () => {
  const parts = [{ type: "resource_link", uri: "file:///a" }] as unknown as Exclude<Content, string>;
  expect(resultParts(parts)).toEqual([{ type: "text", text: '{"type":"resource_link","uri":"file:///a"}' }]);
});
