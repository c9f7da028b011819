// How a step refers to its model input. An ordinary step says "as before plus the messages of that step", in a few bytes; other
// steps list rows of messages, and hashes of contents for messages that are stored nowhere else.

/**
 * A message of an input: a message of the conversation by its position, another row of the session by its seq, or a content by its
 * hash.
 */
export type MessageRef = `p${number}` | `m${number}` | `#${string}`;

/** The input of one model call, by reference. */
export interface InputRef {
  /** The hash of the content with model, tools and settings. */
  readonly setup: string;
  /** Undefined: the messages of the step before, followed by the messages which that step made. */
  readonly messages?: readonly MessageRef[] | undefined;
}

const continued = "+";

/** The text of a reference: the setup, then "+" or the messages, rows as ranges: `3f… #9c…,p12-61,m70`. */
export function formatInput({ setup, messages }: InputRef): string {
  return `${setup} ${messages === undefined ? continued : formatMessages(messages)}`;
}

function formatMessages(messages: readonly MessageRef[]): string {
  const parts: string[] = [];
  for (let start = 0; start < messages.length; ) {
    const first = messages[start] as MessageRef;
    const [kind, number] = [first.charAt(0), Number(first.slice(1))];
    let end = start;
    if (kind !== "#") while (messages[end + 1] === `${kind}${number + (end + 1 - start)}`) end++;
    parts.push(end === start ? first : `${first}-${number + end - start}`);
    start = end + 1;
  }
  return parts.join(",");
}

/** The hash of the content that a long reference is kept as: `@9c…`; undefined for a reference that is kept itself. */
export function keptRef(text: string | null): string | undefined {
  return text?.startsWith("@") ? text.slice(1) : undefined;
}

/** Parses the text of a reference; undefined if it has another form. */
export function parseInput(text: string): InputRef | undefined {
  const [, setup = "", list = ""] = /^([0-9a-f]+) (\S*)$/.exec(text) ?? [];
  if (setup === "") return undefined;
  return list === continued ? { setup } : { setup, messages: list === "" ? [] : list.split(",").flatMap(parsePart) };
}

function parsePart(part: string): MessageRef[] {
  const kind = part.charAt(0);
  if (kind === "#") return [part as MessageRef];
  const [first = 0, last = first] = part.slice(1).split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => `${kind}${first + index}` as MessageRef);
}
