// Removes secrets from text and JSON before they leave the process. Exports, spans and events use the same redactor.
import { isObject } from "./json.ts";
import { checkOptions, type OptionRule } from "./options.ts";
import { redactText, type TextRedaction } from "./redact-text.ts";
import { secretEnding, secretNames, secretPatterns } from "./secret-forms.ts";

export interface RedactorOptions {
  /** Additional names whose values are secret. Case, `_` and `-` do not matter. */
  readonly keys?: readonly string[] | undefined;
  /** Additional patterns of secrets in text. */
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

/** Makes a redactor for the common secrets: API keys, tokens, passwords, private keys, cookies, URLs with passwords. */
export function redactor(options: RedactorOptions = {}): Redactor {
  checkOptions(options, optionRules, "redactor");
  const { keys = [], patterns = [], replacement = "[redacted]" } = options;
  const names = new Set([...secretNames, ...keys.map((key) => wordsOf(key).join(""))]);
  const isSecretName = (name: string): boolean => {
    const words = wordsOf(name.slice(-maxNameLength));
    return secretEnding.test(words.at(-1) ?? "") || words.some((_, from) => names.has(words.slice(from).join("")));
  };
  const rules = { isSecretName, patterns: [...secretPatterns, ...patterns.map(makeGlobal)], replacement };
  return (value) => redactValue(value, { ...rules, above: new Set() }) as typeof value;
}

interface Redaction extends TextRedaction {
  /** The objects and lists that contain the value, to stop at cycles and at great depth. */
  readonly above: Set<unknown>;
}

function listOf(words: string, isItem: (item: unknown) => boolean): OptionRule {
  return { isFit: (value) => Array.isArray(value) && value.every(isItem), words: `a list of ${words}` };
}

/** The words of a name, in lower case and without a trailing number: "dbPassword1" gives "db" and "password". */
function wordsOf(name: string): string[] {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return spaced
    .replace(/[\d\s_.-]+$/, "")
    .toLowerCase()
    .split(/[\s_.-]+/);
}

function makeGlobal(pattern: RegExp): RegExp {
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

/** True for a list of alternating names and values, such as Node's `rawHeaders`. */
function isHeaderList(list: readonly unknown[]): boolean {
  const isHeader = (item: unknown, i: number): boolean =>
    typeof item === "string" && (i % 2 === 1 || /^[A-Za-z][A-Za-z0-9-]{0,60}$/.test(item));
  return list.length > 2 && list.length % 2 === 0 && list.every(isHeader);
}

function redactFields(fields: Record<string, unknown>, redaction: Redaction): Record<string, unknown> {
  // In { name: "authorization", value: "…" } the name of the secret is the value of another field.
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

// The lists `required` and `enum` of a JSON Schema contain names, not secrets.
function redactEntry(name: string, value: unknown, redaction: Redaction): unknown {
  const isNames = (name === "required" || name === "enum") && Array.isArray(value);
  return isNames && value.every((item) => typeof item === "string" && /^[A-Za-z_]+$/.test(item))
    ? value
    : redactValue(value, redaction);
}

// Booleans and missing values are not secrets, whatever their name.
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
