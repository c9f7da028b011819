// Import: turns messages of any known format into ours. The messages themselves show which format it is.
import { isObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { withoutMetadata } from "../export/exported-message.ts";
import { fromExport } from "../export/from-export.ts";
import { importers } from "../importers/index.ts";
import type { Fields, Importer } from "./importer.ts";

/**
 * The messages in a value: a list of any known format, an object that holds one (a request, a response), a single message, or exported
 * text. Throws `invalid-format` for anything else, naming what was found.
 */
export function importMessages(value: unknown): Message[] {
  const items = typeof value === "string" ? fromExport(value) : isIterable(value) ? [...value].map(bare) : [value];
  const [only] = items;
  return importList(items.length === 1 && isObject(only) ? listIn(only) : items);
}

// A dict export added `_metadata` to each message.
function bare(item: unknown): unknown {
  return isObject(item) ? withoutMetadata(item as unknown as Message) : item;
}

// Requests and responses hold their messages under one of these names. Anthropic's system prompt is beside them.
function listIn(holder: Fields): readonly unknown[] {
  const { messages, output, input, choices, system } = holder;
  if (Array.isArray(choices)) return choices.map((choice) => (choice as Fields | null)?.message);
  const held = [messages, output, input].find(Array.isArray);
  if (held === undefined) return [holder];
  return system === undefined ? held : [{ role: "system", content: system }, ...held];
}

function importList(items: readonly unknown[]): Message[] {
  const stray = items.findIndex((item) => !isObject(item));
  if (stray >= 0) throw unknownShape(`item ${stray} is ${describe(items[stray])}`);
  const fields = items as readonly Fields[];
  const possible = importers.filter((importer) => fields.every((item) => importer.recognises(item) !== "no"));
  const certain = possible.find((importer) => fields.some((item) => importer.recognises(item) === "yes"));
  const chosen = certain ?? possible[0];
  if (chosen === undefined) throw unknownShape(whyNot(fields));
  return chosen.toMessages(fields);
}

function whyNot(items: readonly Fields[]): string {
  const read = (item: Fields): Importer[] => importers.filter((importer) => importer.recognises(item) !== "no");
  const strange = items.findIndex((item) => read(item).length === 0);
  if (strange >= 0) return `item ${strange} is ${describe(items[strange])}`;
  const names = new Set(items.flatMap((item) => importers.find((one) => one.recognises(item) === "yes")?.name ?? []));
  return `the list mixes ${[...names].join(" and ")}`;
}

function unknownShape(found: string): OffstageError {
  const known = importers.map(({ name }) => name).join(", ");
  return new OffstageError(
    "invalid-format",
    `These are not messages of a known format: ${found}. Known formats: ${known}, JSON and JSONL exports.`,
  );
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (!isObject(value))
    return value === null || value === undefined
      ? String(value)
      : `${typeof value} ${String(value).slice(0, 40)}`.trim();
  const { role, type } = value;
  const keys = Object.keys(value)
    .slice(0, 8)
    .map((key) => `"${key.slice(0, 40)}"`)
    .join(", ");
  const marks = Object.entries({ role, type }).flatMap(([mark, found]) =>
    found === undefined ? [] : [`${mark} ${JSON.stringify(found)}`],
  );
  return `an object${marks.length === 0 ? "" : ` of ${marks.join(" and ")}`} with the keys ${keys || "(none)"}`;
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}
