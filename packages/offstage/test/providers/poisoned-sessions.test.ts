// What a provider cannot take must not end the turns behind it: it is refused once at most, and a marker from then on.
import { describe, expect, test } from "vitest";
import { image } from "../../src/doors/tools.ts";
import { Agent, isOffstageError, type Message, memoryStore, tool } from "../../src/index.ts";
import { allProviders } from "./all-providers.ts";

const files = {
  "a PDF at a URL": { mediaType: "application/pdf", url: "https://a.example/a.pdf" },
  "a video at a URL": { mediaType: "video/mp4", url: "https://a.example/a.mp4" },
  "an image of unknown type": { mediaType: "image/*", url: "data:image/*;base64,AAAA" },
  "a data: URL without data": { mediaType: "image/png", url: "data:image/png" },
  "broken base64": { mediaType: "image/png", url: "data:image/png;base64,%%%" },
  "a media type with a line break": { mediaType: "text/html\r\nx", url: "https://a.example/" },
  "no address": { mediaType: "image/png", url: "a.png" },
};

function withFile(file: object): Message {
  const content = [
    { type: "file", ...file },
    { type: "text", text: "look" },
  ];
  return { role: "user", content } as unknown as Message;
}

const script = [{ text: ["One."] }, { text: ["Two."] }, { text: ["Three."] }];

describe.each(allProviders)("$name", (provider) => {
  test("a file that cannot be sent refuses one turn at most", async () => {
    for (const file of Object.values(files)) {
      await using server = await provider.serve(script);
      const agent = new Agent({ model: provider.model(server.url), retry: { maxRetries: 0 } });
      const session = memoryStore().session("s");
      const error: unknown = await agent.run(withFile(file), { session }).catch((error: unknown) => error);
      if (error instanceof Error) expect(isOffstageError(error, "invalid-message")).toBe(true);
      for (const text of ["hello", "hello again"])
        expect((await agent.run(text, { session })).outcome.reason).toBe("answered");
      expect(server.refusals).toEqual([]);
    }
  });

  test("stored messages that no door would let in become markers", async () => {
    await using server = await provider.serve(script);
    const agent = new Agent({ model: provider.model(server.url), retry: { maxRetries: 0 } });
    const session = memoryStore().session("s");
    const blank = ["", " \n", [], [{ type: "text", text: " " }]].map((content) => ({ role: "user", content }));
    await session.addItems([...Object.values(files).map(withFile), ...(blank as Message[])]);
    for (const text of ["hello", "hello again"])
      expect((await agent.run(text, { session })).outcome.reason).toBe("answered");
    expect(server.refusals).toEqual([]);
    const sent = JSON.stringify(server.requests.map(({ body }) => body));
    expect(sent).toContain("not shown");
    expect(sent).not.toMatch(/"(?:text|content)":"(?:\s|\\n)*"/);
  });

  test("a tool's image of unknown type does not end the run", async () => {
    await using server = await provider.serve([
      { calls: [{ id: "c1", name: "look", input: {} }] },
      { text: ["Seen."] },
    ]);
    const look = tool({ name: "look", execute: () => image(Buffer.from("abc"), "image/*") });
    const agent = new Agent({ model: provider.model(server.url), tools: [look], retry: { maxRetries: 0 } });
    expect((await agent.run("Look.")).text).toBe("Seen.");
    expect(JSON.stringify(server.requests[1]?.body)).toContain("its type is not known");
  });
});
