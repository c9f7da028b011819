// Self-printing: data that reads well as text. The rendering is on the side, so the data compares as plain data.
import { inertText } from "../base/inert.ts";

/** The same array, which renders itself under `String()`. Its `toString` is not enumerable. */
export function printing<T extends object>(data: T, render: () => string): T {
  return Object.defineProperty(data, "toString", { value: render, enumerable: false, configurable: true });
}

/** A labelled text, safe for a terminal, its further lines indented below the first. */
export function labelled(label: string, text: string, indent = "  "): string {
  return `${indent}${label}: ${inertText(text).replace(/\n/g, `\n${indent}  `)}`;
}
