// Ids of tool calls and names of tools: mints ids that every provider accepts, and makes foreign ones valid. The same text gives
// the same result, so a call and its results stay a pair.
import { isObject } from "../base/json.ts";
import { OffstageError } from "../errors.ts";
import { mapStream } from "./adapt-model.ts";
import type { Model, ModelCallOptions, ModelContent } from "./model.ts";
import { rulesOf } from "./provider-rules.ts";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 9;

/** A random call id: nine letters and digits, the strictest form that any provider requires. */
export function mintCallId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(idLength)), (byte) => digits[byte % digits.length]).join("");
}

/** The id itself if it fits, else nine letters and digits made from it. */
export function validCallId(id: string, pattern: RegExp): string {
  return pattern.test(id) ? id : shortHash(id);
}

/** The name itself if it fits, else the nearest name that does. */
export function validToolName(name: string, pattern: RegExp): string {
  if (pattern.test(name)) return name;
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_");
  const whole = /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`;
  return whole.length <= 64 ? whole : `${whole.slice(0, 64 - idLength - 1)}_${shortHash(name)}`;
}

/** Nine letters and digits that depend on the text alone. Two texts that differ have the same with a chance of 1 in 10^15. */
export function shortHash(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = mix(high, low);
  low = mix(low, high);
  let value = 4294967296 * (2097151 & low) + (high >>> 0);
  let hash = "";
  while (hash.length < idLength) {
    hash = digits[value % digits.length] + hash;
    value = Math.floor(value / digits.length);
  }
  return hash;
}

function mix(one: number, other: number): number {
  return Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
}

/**
 * The model itself if its provider accepts these names of tools; else one that translates them in both directions. The calls of a
 * prompt have the valid names already.
 */
export function withToolNames(model: Model, names: readonly string[]): Model {
  const { toolName } = rulesOf(model.provider);
  if (names.every((name) => toolName.test(name))) return model;
  const own = ownNames(names, toolName, model.provider);
  const call = (options: ModelCallOptions) => withValidNames(options, toolName);
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    ...(model.supportedUrls !== undefined && { supportedUrls: model.supportedUrls }),
    doGenerate: async (options) => {
      const result = await model.doGenerate(call(options));
      return { ...result, content: result.content.map((part) => withOwnName(part, own) as ModelContent) };
    },
    doStream: async (options) => {
      const { stream } = await model.doStream(call(options));
      return { stream: mapStream(stream, (part) => withOwnName(part, own)) };
    },
  };
}

function ownNames(names: readonly string[], pattern: RegExp, provider: string): Map<string, string> {
  const own = new Map<string, string>();
  for (const name of names) {
    const valid = validToolName(name, pattern);
    const other = own.get(valid);
    if (other !== undefined)
      throw new OffstageError(
        "invalid-tool",
        `The tools "${other}" and "${name}" have the same name for "${provider}", "${valid}". Rename one of them.`,
      );
    own.set(valid, name);
  }
  return own;
}

function withValidNames(options: ModelCallOptions, pattern: RegExp): ModelCallOptions {
  const { tools, toolChoice } = options;
  return {
    ...options,
    ...(tools !== undefined && {
      tools: tools.map((tool) =>
        tool.type === "provider" ? tool : { ...tool, name: validToolName(tool.name, pattern) },
      ),
    }),
    ...(toolChoice?.type === "tool" && {
      toolChoice: { ...toolChoice, toolName: validToolName(toolChoice.toolName, pattern) },
    }),
  };
}

function withOwnName(part: unknown, own: ReadonlyMap<string, string>): unknown {
  if (!isObject(part) || typeof part.toolName !== "string") return part;
  return { ...part, toolName: own.get(part.toolName) ?? part.toolName };
}
