// Names of tools: which of a server's tools are used, and what the model calls them.
import { createHash } from "node:crypto";
import { inertText } from "../../base/inert.ts";
import { OffstageError } from "../../errors.ts";

const maxLength = 64;

/** The name that the model uses: `server__tool`, in the characters and the length that every provider takes. */
export function nameForModel(server: string, tool: string): string {
  const name = `${server}__${tool.replace(/[^A-Za-z0-9_-]/gu, "_")}`;
  if (name.length <= maxLength) return name;
  const mark = createHash("sha256").update(tool).digest("hex").slice(0, 8);
  return `${name.slice(0, maxLength - mark.length - 1)}_${mark}`;
}

/** Throws `invalid-tool` if two tools of a server would have the same name. */
export function checkCollisions(server: string, tools: readonly { readonly name: string }[]): void {
  const owners = new Map<string, string>();
  for (const { name } of tools) {
    const given = nameForModel(server, name);
    const other = owners.get(given);
    if (other !== undefined) {
      const both = `${shownName(other)} and ${shownName(name)}`;
      const message = `The tools ${both} of the MCP server "${server}" would both be called "${given}". Select one with "only".`;
      throw new OffstageError("invalid-tool", message);
    }
    owners.set(given, name);
  }
}

/** A name of a server in a sentence: quoted, short, and unable to control a terminal. */
export function shownName(name: string): string {
  return `"${inertText(name.length > 80 ? `${name.slice(0, 80)}…` : name).replace(/\s/g, " ")}"`;
}

/** Tells whether a name is one of `patterns`, in which `*` stands for any characters. */
export function nameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const parts = patterns.map((pattern) => pattern.split("*"));
  return (name) => parts.some((each) => matches(each, name));
}

// By hand, because a pattern with many stars is slow as a regular expression.
function matches([first = "", ...rest]: readonly string[], name: string): boolean {
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
