// "offstage/tools": makers for the parts that a tool may return and a user may send.
export type { FilePartOptions, FileSource } from "../messages/parts.ts";
export { audio, file, image, text } from "../messages/parts.ts";
