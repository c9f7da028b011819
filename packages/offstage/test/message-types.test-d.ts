// The types of messages: parts narrow by their type, and parts of unknown types have their own type.
import { expectTypeOf } from "vitest";
import { type ContentPart, textOf, type UnknownPart, type UserMessage, user } from "../src/index.ts";

declare const part: ContentPart;
if (part.type === "text") expectTypeOf(part.text).toEqualTypeOf<string>();
if (part.type === "image_url") expectTypeOf(part.image_url.url).toEqualTypeOf<string>();
if (part.type === "refusal") expectTypeOf(part.refusal).toEqualTypeOf<string>();
expectTypeOf(part.type).toEqualTypeOf<"text" | "refusal" | "image_url" | "input_audio" | "file">();

const video: UnknownPart = { type: "video", seconds: 3 };
expectTypeOf(user([{ type: "text", text: "Look" }, video])).toEqualTypeOf<UserMessage>();
expectTypeOf(textOf([user("Hello")].at(-1))).toEqualTypeOf<string>();

// Options may be undefined.
declare const given: { readonly metadata: { readonly id: string } | undefined };
expectTypeOf(user("Hello", given)).toEqualTypeOf<UserMessage>();
