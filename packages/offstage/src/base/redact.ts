// Redact: takes secrets out of text and JSON before they leave the process. One redactor for exports, spans and events.
import { isObject } from "./json.ts";
import { checkOptions, type OptionRule } from "./options.ts";
import { redactText, type TextRedaction } from "./redact-text.ts";
import { secretEnding, secretNames, secretPatterns } from "./secret-forms.ts";

export interface RedactorOptions {
  /** Further names whose values are secret, in any case and with or without `_` and `-`. */
  readonly keys?: readonly string[] | undefined;
  /** Further patterns of secret text. */
  readonly patterns?: readonly RegExp[] | undefined;
  /** Replaces each secret. Default "[redacted]". */
  readonly replacement?: string | undefined;
}

/** Returns a copy without secrets, or the value itself if it has none. */
export type Redactor = <T>(value: T) => T;

const optionRules: Readonly<Record<keyof RedactorOptions, OptionRule>> = {
  keys: listOf("names", (item) => typeof item === "string"),
  patterns: listOf("RegExps", (item) => item instanceof RegExp),
  replacement: { isFit: (value) => typeof value === "string", words: "text" },
};

const maxNameLength = 100;
const maxDepth = 200;

/** Makes a redactor that knows the usual secrets: keys of providers, tokens, passwords, private keys, cookies, URLs with passwords. */
export function redactor(options: RedactorOptions = {}): Redactor {
  checkOptions(options, optionRules, "redactor");
  const { keys = [], patterns = [], replacement = "[redacted]" } = options;
  const names = new Set([...secretNames, ...keys.map((key) => wordsOf(key).join(""))]);
  const isSecretName = (name: string): boolean => {
    const words = wordsOf(name.slice(-maxNameLength));
    return secretEnding.test(words.at(-1) ?? "") || words.some((_, from) => names.has(words.slice(from).join("")));
  };
  const rules = { isSecretName, patterns: [...secretPatterns, ...patterns.map(everywhere)], replacement };
  return (value) => redactValue(value, { ...rules, above: new Set() }) as typeof value;
}

interface Redaction extends TextRedaction {
  /** The objects and lists around the value, to stop at circles and at great depth. */
  readonly above: Set<unknown>;
}

function listOf(words: string, isItem: (item: unknown) => boolean): OptionRule {
  return { isFit: (value) => Array.isArray(value) && value.every(isItem), words: `a list of ${words}` };
}

/** The words of a name in lower case, without a number at its end: "dbPassword1" gives "db" and "password". */
function wordsOf(name: string): string[] {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return spaced
    .replace(/[\d\s_.-]+$/, "")
    .toLowerCase()
    .split(/[\s_.-]+/);
}

function everywhere(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, "")}g`);
}

function redactValue(value: unknown, redaction: Redaction): unknown {
  if (typeof value === "string") return redactText(value, redaction);
  const isList = Array.isArray(value);
  if (!isList && !isPlain(value)) return value;
  const { above, replacement } = redaction;
  if (above.has(value) || above.size >= maxDepth) return replacement;
  above.add(value);
  const clean = isList ? redactList(value, redaction) : redactFields(value, redaction);
  above.delete(value);
  return clean;
}

function redactList(list: readonly unknown[], redaction: Redaction): readonly unknown[] {
  const isPaired = list.length === 2 || isHeaderList(list);
  const clean = list.map((item, i) => {
    const isNamed = isPaired && i % 2 === 1 && isSecretField(list[i - 1], item, redaction);
    return isNamed ? redaction.replacement : redactValue(item, redaction);
  });
  return clean.some((item, i) => item !== list[i]) ? clean : list;
}

/** True for names and values in turn, as Node's `rawHeaders` has them. */
function isHeaderList(list: readonly unknown[]): boolean {
  const isHeader = (item: unknown, i: number): boolean =>
    typeof item === "string" && (i % 2 === 1 || /^[A-Za-z][A-Za-z0-9-]{0,60}$/.test(item));
  return list.length > 2 && list.length % 2 === 0 && list.every(isHeader);
}

function redactFields(fields: Record<string, unknown>, redaction: Redaction): Record<string, unknown> {
  // { name: "authorization", value: "…" }: the name of a secret is the value of another field.
  const given = fields.name ?? fields.key ?? fields.header;
  let isChanged = false;
  const clean = Object.entries(fields).map(([name, value]) => {
    const isSecret =
      isSecretField(name, value, redaction) || (name === "value" && isSecretField(given, value, redaction));
    const kept = isSecret ? redaction.replacement : redactEntry(name, value, redaction);
    isChanged ||= kept !== value;
    return [name, kept] as const;
  });
  return isChanged ? Object.fromEntries(clean) : fields;
}

// The names that a JSON Schema lists are names, not values.
function redactEntry(name: string, value: unknown, redaction: Redaction): unknown {
  const isNames = (name === "required" || name === "enum") && Array.isArray(value);
  return isNames && value.every((item) => typeof item === "string" && /^[A-Za-z_]+$/.test(item))
    ? value
    : redactValue(value, redaction);
}

// Flags and missing values are no secrets, whatever they are called.
function isSecretField(name: unknown, value: unknown, { isSecretName }: Redaction): boolean {
  return (
    typeof name === "string" &&
    value !== undefined &&
    value !== null &&
    typeof value !== "boolean" &&
    isSecretName(name)
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
