import { describe, expect, test } from "vitest";
import { Agent, type Message, memoryStore } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { checkNewContent } from "./new-content.ts";

const png = "iVBORw0KGgo=";
type Content = Parameters<typeof checkNewContent>[0];

const refused: Record<string, unknown> = {
  "blank text": " \n",
  "no parts": [],
  "blank parts": [
    { type: "text", text: " " },
    { type: "text", text: "" },
  ],
  "a relative address": [{ type: "image_url", image_url: { url: "a.png" } }],
  "a data: URL without a comma": [{ type: "file", mediaType: "image/png", url: "data:image/png" }],
  "data that is not base64": [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,%%%" }],
  "plain data that is not base64": [{ type: "image", image: "!!" }],
  "empty data": [{ type: "file", file: { file_data: "data:application/pdf;base64," } }],
  "a media type with a line break": [{ type: "file", mediaType: "text/html\r\nx", url: "https://a.example/" }],
  "a media type of three": [{ type: "image", source: { type: "base64", media_type: "a/b/c", data: png } }],
};

const accepted: Record<string, unknown> = {
  text: "hi",
  "blank text beside a file": [
    { type: "text", text: "" },
    { type: "image_url", image_url: { url: "https://a.example/a.png" } },
  ],
  "a kind of media": [{ type: "file", mediaType: "image/*", data: png }],
  "a media type with a parameter": [{ type: "file", mediaType: "text/plain; charset=utf-8", url: "data:,hello" }],
  "the id of a file": [{ type: "file", file: { file_id: "file-1" } }],
  "a document of text": [{ type: "document", source: { type: "text", media_type: "text/plain", data: "Hello, you!" } }],
  bytes: [{ type: "file", mediaType: "image/png", data: new Uint8Array([1]) }],
  "a part of another kind": [{ type: "data-weather", data: "anything at all" }],
};

describe("a new message of a user", () => {
  test.for(Object.entries(refused))("is refused with %s", ([, content]) => {
    const thrown = expect.objectContaining({ code: "invalid-message" });
    expect(() => checkNewContent(content as Content, "content")).toThrow(thrown);
  });

  test.for(Object.entries(accepted))("may have %s", ([, content]) => {
    expect(() => checkNewContent(content as Content, "content")).not.toThrow();
  });

  test("is checked by run and say before anything is stored", async () => {
    const session = memoryStore().session("s");
    const agent = new Agent({ model: scriptedModel(["Fine."]) });
    for (const content of Object.values(refused)) {
      const message = { role: "user", content } as Message;
      await expect(agent.run(message, { session })).rejects.toMatchObject({ code: "invalid-message" });
      await expect(session.say(message as never)).rejects.toMatchObject({ code: "invalid-message" });
    }
    await expect(agent.run(" ", { session })).rejects.toMatchObject({ code: "invalid-argument" });
    expect(await session.getItems()).toEqual([]);
    expect((await agent.run("hello", { session })).text).toBe("Fine.");
  });

  test("may follow older messages that would be refused", async () => {
    const agent = new Agent({ model: scriptedModel(["Fine."]) });
    const old: Message[] = [
      { role: "user", content: "" },
      { role: "assistant", content: "What?" },
    ];
    expect((await agent.run([...old, { role: "user", content: "hello" }])).text).toBe("Fine.");
  });
});
