// Self-printing: plain data that renders itself as text. The method is not enumerable, so the data compares as plain data.
import { inertText } from "../base/inert.ts";

/** Returns the same data, which renders itself under `String()`. */
export function printing<T extends object>(data: T, render: () => string): T {
  return Object.defineProperty(data, "toString", { value: render, enumerable: false, configurable: true });
}

/** A labelled text, inert on a terminal, with further lines indented below the first. */
export function labelled(label: string, text: string, indent = "  "): string {
  return `${indent}${label}: ${inertText(text).replace(/\n/g, `\n${indent}  `)}`;
}
