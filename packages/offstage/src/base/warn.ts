// The one printer of warnings: redacted, inert, on one line.
import { inertLine } from "./inert.ts";
import { redactor } from "./redact.ts";

export interface WarnOptions {
  /** The name of the warning, as `process.on("warning")` shows it. Default "OffstageWarning". */
  readonly type?: string;
  readonly code?: string;
}

/** Emits a process warning. Untrusted text in `sentence` can neither control the terminal nor show known kinds of secrets. */
export function warn(sentence: string, { type = "OffstageWarning", code }: WarnOptions = {}): void {
  const text = inertLine(redactor()(sentence));
  process.emitWarning?.(text, { type, ...(code !== undefined && { code }) });
}
