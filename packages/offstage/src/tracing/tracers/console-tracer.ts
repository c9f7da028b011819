// A tracer for people: one readable line per record, colored on a terminal. Untrusted text is redacted and made inert.
import { inertLine, styleText } from "../../base/inert.ts";
import { checkOptions, type OptionRules, objectWith, oneOf, someFunction, yesOrNo } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import {
  isAtLeast,
  type RecordTracer,
  type TraceRecord,
  type TracerLevel,
  traceRecord,
  tracerLevels,
} from "../tracer.ts";

export interface ConsoleTracerOptions {
  /** The lowest level that is written. Default `info`. */
  readonly level?: TracerLevel | undefined;
  /** Receives the lines. Default: standard error. */
  readonly stream?: { write(text: string): unknown; readonly isTTY?: boolean | undefined } | undefined;
  /** Default: true if the stream is a terminal with colors. */
  readonly color?: boolean | undefined;
  /** Removes secrets from every text. Default: `redactor()`. */
  readonly redact?: Redactor | undefined;
}

const rules: OptionRules = {
  level: oneOf(...tracerLevels),
  stream: objectWith('an object with a "write" method', "write"),
  color: yesOrNo,
  redact: someFunction,
};

const colors: Record<TracerLevel, "gray" | "cyan" | "green" | "yellow" | "red"> = {
  trace: "gray",
  debug: "cyan",
  info: "green",
  warning: "yellow",
  error: "red",
};

/** Writes each record as one line: time, level, message, error, trace and span id. */
export class ConsoleTracer implements RecordTracer {
  readonly #level: TracerLevel;
  readonly #stream: { write(text: string): unknown };
  readonly #color: boolean;
  readonly #redact: Redactor;

  constructor(options: ConsoleTracerOptions = {}) {
    checkOptions(options, rules, "ConsoleTracer");
    const { level = "info", stream = process.stderr, color = showsColors(stream), redact = redactor() } = options;
    this.#level = level;
    this.#stream = stream;
    this.#color = color;
    this.#redact = redact;
  }

  trace(message: string): void {
    this.#record("trace", message);
  }

  debug(message: string): void {
    this.#record("debug", message);
  }

  info(message: string): void {
    this.#record("info", message);
  }

  warning(message: string): void {
    this.#record("warning", message);
  }

  error(message: string, error?: unknown): void {
    this.#record("error", message, error);
  }

  write(record: TraceRecord): void {
    if (!isAtLeast(record.level, this.#level)) return;
    try {
      this.#stream.write(`${line(this.#redact(record), this.#color)}\n`);
    } catch {
      // A closed terminal or a broken redactor must not break the work that wrote the line.
    }
  }

  #record(level: TracerLevel, message: string, error?: unknown): void {
    if (isAtLeast(level, this.#level)) this.write(traceRecord(level, message, error));
  }
}

function line({ level, message, time, traceId, spanId, error }: TraceRecord, color: boolean): string {
  const paint = (format: Parameters<typeof styleText>[0], text: string): string =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const ids = [traceId && `trace=${traceId}`, spanId && `span=${spanId}`].filter(Boolean).join(" ");
  return [
    paint("gray", new Date(time).toISOString()),
    paint(colors[level], level.toUpperCase().padEnd(7)),
    inertLine(message),
    ...(error === undefined ? [] : [inertLine(`${error.type}: ${error.message}`)]),
    ...(ids === "" ? [] : [paint("gray", inertLine(ids))]),
  ].join(" ");
}

function showsColors(stream: NonNullable<ConsoleTracerOptions["stream"]>): boolean {
  if (stream.isTTY !== true) return false;
  return "hasColors" in stream && typeof stream.hasColors === "function" ? stream.hasColors() === true : true;
}
