// Removes secrets from a text. redact.ts does so for JSON values; secret-forms.ts lists the forms of secrets.

export interface TextRedaction {
  readonly isSecretName: (name: string) => boolean;
  /** The forms of secrets, each with the flag `g`. */
  readonly patterns: readonly RegExp[];
  readonly replacement: string;
}

/** The text without secrets. They are found by their form, or by the name in front of them. */
export function redactText(text: string, redaction: TextRedaction): string {
  let clean = text;
  for (const pattern of redaction.patterns) clean = clean.replace(pattern, () => redaction.replacement);
  return redactAssignments(clean, redaction);
}

/** The ways to name a value in a text. Each match ends where the value begins. */
const namings: readonly RegExp[] = [
  // name=value, "name": "value", \"name\": \"value\", name => value
  /(?<![A-Za-z0-9_-])(?<name>[A-Za-z][A-Za-z0-9_-]{1,60})(?<close>\\*["']?)\s{0,4}(?:=>|:=|[:=](?![:=]))\s{0,4}/g,
  // --name=value, and --name value unless the value reads like a word
  /(?<![A-Za-z0-9_-])(?<flag>--?)(?<name>[A-Za-z][A-Za-z0-9_-]{1,60})(?:=|[ \t]{1,4}(?!-)(?=["']|[A-Za-z]{0,60}[0-9!@#$%^&*+/=_]))/g,
  // ["name", "value"], but not the names that a JSON Schema lists
  /(?<!(?:required|enum)\\*["']\s{0,4}:\s{0,4})\[\s{0,40}\\*["'](?<name>[A-Za-z][A-Za-z0-9_-]{1,60})\\*["']\s{0,40},\s{0,40}(?=\\*["'][^"'\\]{0,2000}\\*["']\s{0,40}\])/g,
  // "name": "authorization", "value": "…"
  /["'](?:name|key|header)(?<close>\\*["'])\s{0,4}:\s{0,4}\\*["'](?<name>[A-Za-z][A-Za-z0-9_-]{1,60})\\*["']\s{0,40},\s{0,40}\\*["']value\\*["']\s{0,4}:\s{0,4}/g,
];

/** The forms of a value. A value without quotes extends to the end of its line. */
const quotedForms: readonly RegExp[] = [
  /(?<quote>")(?:[^"\\]|\\.)*"?/y,
  /(?<quote>')(?:[^'\\\r\n]|\\.)*'/y,
  /(?<quote>')[^'"\\\r\n]*/y,
];
const valueForms: readonly RegExp[] = [
  ...quotedForms,
  /(?<number>-?\d[\d.eE+-]{0,40})(?=\s{0,40}[,}\]])/y,
  /[^\s"'{[\\&;}](?:[^\r\n"'\\&;}]|\\[^"'\r\n])*/y,
];
/** The forms of a flag's value on a command line. One without quotes ends with its word. */
const flagForms: readonly RegExp[] = [...quotedForms, /[^\s"'{[\\&;}](?:[^\s"'\\&;}]|\\[^"'\r\n])*/y];

const noValue = /(?:true|false|null|undefined|None)(?=\s{0,40}(?:[,;}\]]|$))/y;
const escapedQuote = /\\{1,16}"/y;

function redactAssignments(text: string, { isSecretName, replacement }: TextRedaction): string {
  const found = namings.flatMap((naming) => [...text.matchAll(naming)]).sort((a, b) => a.index - b.index);
  let clean = "";
  let copied = 0;
  for (const { index, 0: naming, groups = {} } of found) {
    const start = index + naming.length;
    // The value of an ordinary name is searched too: it may be JSON that contains a secret.
    if (start < copied || !isSecretName(groups.name ?? "")) continue;
    const value = valueAt(text, start, groups.flag === undefined ? valueForms : flagForms);
    if (value === undefined) continue;
    // A number becomes text, with the same quotes as its name.
    const quote = value.isNumber ? (groups.close ?? "") : value.quote;
    clean += `${text.slice(copied, start)}${quote}${replacement}${quote}`;
    copied = value.end;
  }
  return copied === 0 ? text : clean + text.slice(copied);
}

interface FoundValue {
  readonly end: number;
  readonly quote: string;
  readonly isNumber?: boolean;
}

function valueAt(text: string, start: number, forms: readonly RegExp[]): FoundValue | undefined {
  if (matchAt(noValue, text, start) !== undefined) return undefined;
  const opening = matchAt(escapedQuote, text, start)?.[0];
  if (opening !== undefined) return { end: endOfEscaped(text, start, opening), quote: opening };
  for (const form of forms) {
    const found = matchAt(form, text, start);
    if (found === undefined) continue;
    const { quote = "", number } = found.groups ?? {};
    return { end: start + found[0].length, quote, isNumber: number !== undefined };
  }
  return undefined;
}

/**
 * The end of a quoted value in JSON within JSON. Its closing quote has as many backslashes as the opening one, after any pairs of
 * escaped backslashes. A quote with fewer belongs to the surrounding text.
 */
function endOfEscaped(text: string, start: number, opening: string): number {
  const slashes = opening.length - 1;
  const from = start + opening.length;
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (first > from && text[first - 1] === "\\") first--;
    const rest = (at - first) % (2 * slashes + 2);
    if (rest <= slashes) return rest === slashes ? at + 1 : at - rest;
  }
  return text.length;
}

function matchAt(pattern: RegExp, text: string, start: number): RegExpExecArray | undefined {
  pattern.lastIndex = start;
  return pattern.exec(text) ?? undefined;
}
