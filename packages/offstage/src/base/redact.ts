// Redact: takes secrets out of text and JSON before they leave the process. One redactor for exports, spans and events.
import { isObject } from "./json.ts";

export interface RedactorOptions {
  /** Names whose values are secret, in any case and with or without `_` and `-`; added to the usual ones. */
  readonly keys?: readonly string[];
  /** Further patterns of secret text. */
  readonly patterns?: readonly RegExp[];
  /** What stands in place of a secret. Default "[redacted]". */
  readonly replacement?: string;
}

/** Gives a copy without secrets; the value itself where there are none. */
export type Redactor = <T>(value: T) => T;

// A name is secret where it, or its end (`OPENAI_API_KEY`, `githubToken`), is one of these.
const secretNames = [
  ...["apikey", "accesskey", "accesskeyid", "secretkey", "privatekey", "signingkey", "encryptionkey"],
  ...["secret", "clientsecret", "password", "passwd", "passphrase", "pwd", "pin", "otp"],
  ...["token", "authorization", "cookie", "setcookie", "credential", "credentials"],
  ...["connectionstring", "databaseurl", "webhookurl"],
];

// Each is linear: no repetition of what can match the same text in two ways.
const secretPatterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,}/g,
  /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,}/g,
  /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/g,
  /(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{20,}/g,
  /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /(?<![A-Za-z0-9])hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,}/g,
  /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}/g,
  /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/g,
  /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /(?<=\b(?:set-)?cookie:\s?)[^\r\n]{1,8000}/gi,
  /(?<=\b(?:Bearer|Basic|Token)\s)\s*[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"']{0,200}:)[^\s/@"']{1,500}(?=@)/gi,
];

// A name and `:` or `=`, and the value behind it: `"api_key": "..."`, `\"api_key\": \"...\"` in JSON inside JSON, or bare.
const nameAndSign = /(?<![A-Za-z0-9_-])([A-Za-z][A-Za-z0-9_-]{1,60})\\*["']?\s{0,4}(?:=>|[:=]{1,2})\s{0,4}/g;
const valueForms: readonly RegExp[] = [
  /(?<quote>")(?:[^"\\]|\\.)*"?/y,
  /(?<quote>')(?:[^'\\]|\\.)*'?/y,
  /(?<quote>\\{1,16}")(?:(?!(?<!\\)\k<quote>)[\s\S])*(?:\k<quote>)?/y,
  /[^\s"'{[\\&;}][^\r\n"'&;}]*/y,
];

const maxNameLength = 100;
const maxDepth = 200;

/** A redactor that knows the usual secrets: keys of providers, tokens, passwords, private keys, URLs with passwords. */
export function redactor(options: RedactorOptions = {}): Redactor {
  const { keys = [], patterns = [], replacement = "[redacted]" } = options;
  const names = new Set([...secretNames, ...keys.map((key) => wordsOf(key).join(""))]);
  const isSecretName = (name: string): boolean => {
    const words = wordsOf(name.slice(-maxNameLength));
    return words.some((_, from) => names.has(words.slice(from).join("")));
  };
  const hiding = { isSecretName, patterns: patterns.map(everywhere), replacement };
  return (value) => redactValue(value, { ...hiding, above: new Set() }) as typeof value;
}

interface Hiding {
  readonly isSecretName: (name: string) => boolean;
  readonly patterns: readonly RegExp[];
  readonly replacement: string;
  /** The objects and lists around the value, to stop where they go in a circle or too deep. */
  readonly above: Set<unknown>;
}

function wordsOf(name: string): string[] {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return spaced.toLowerCase().split(/[\s_.-]+/);
}

function everywhere(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, "")}g`);
}

function redactValue(value: unknown, hiding: Hiding): unknown {
  if (typeof value === "string") return redactText(value, hiding);
  const isList = Array.isArray(value);
  if (!isList && !isPlain(value)) return value;
  const { above, replacement } = hiding;
  if (above.has(value) || above.size >= maxDepth) return replacement;
  above.add(value);
  const clean = isList ? redactList(value, hiding) : redactFields(value, hiding);
  above.delete(value);
  return clean;
}

function redactText(text: string, hiding: Hiding): string {
  let clean = text;
  for (const pattern of [...secretPatterns, ...hiding.patterns])
    clean = clean.replace(pattern, () => hiding.replacement);
  return redactAssignments(clean, hiding);
}

// The value of an ordinary name is read on, not skipped: it may be JSON with a secret inside.
function redactAssignments(text: string, { isSecretName, replacement }: Hiding): string {
  let clean = "";
  let copied = 0;
  for (const found of text.matchAll(nameAndSign)) {
    const start = found.index + found[0].length;
    const value = start < copied || !isSecretName(found[1] as string) ? undefined : valueAt(text, start);
    if (value === undefined) continue;
    const { quote = "" } = value.groups ?? {};
    clean += `${text.slice(copied, start)}${quote}${replacement}${quote}`;
    copied = start + value[0].length;
  }
  return copied === 0 ? text : clean + text.slice(copied);
}

function valueAt(text: string, start: number): RegExpExecArray | undefined {
  for (const form of valueForms) {
    form.lastIndex = start;
    const found = form.exec(text);
    if (found !== null) return found;
  }
  return undefined;
}

function redactList(list: readonly unknown[], hiding: Hiding): readonly unknown[] {
  const clean = list.map((item) => redactValue(item, hiding));
  return clean.some((item, i) => item !== list[i]) ? clean : list;
}

function redactFields(fields: Record<string, unknown>, hiding: Hiding): Record<string, unknown> {
  let changed = false;
  const clean = Object.entries(fields).map(([name, value]) => {
    const hidden = holdsSecret(name, value, hiding) ? hiding.replacement : redactValue(value, hiding);
    changed ||= hidden !== value;
    return [name, hidden] as const;
  });
  return changed ? Object.fromEntries(clean) : fields;
}

// Flags and missing values are no secrets, whatever they are called.
function holdsSecret(name: string, value: unknown, { isSecretName }: Hiding): boolean {
  return value !== undefined && value !== null && typeof value !== "boolean" && isSecretName(name);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
