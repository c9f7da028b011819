// A tracer for eyes: one readable line a record, coloured on a terminal. Untrusted text comes out inert.
import { inertLine, styleText } from "../../base/inert.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import { isAtLeast, type RecordTracer, type TraceRecord, type TracerLevel, traceRecord } from "../tracer.ts";

export interface ConsoleTracerOptions {
  /** The least grave level that is written. Default `info`. */
  readonly level?: TracerLevel;
  /** Where lines go. Default: standard error. */
  readonly stream?: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Default: where the stream is a terminal that shows colours. */
  readonly color?: boolean;
  /** Takes secrets out of every text. Default: the usual ones. */
  readonly redact?: Redactor;
}

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
      // A closed terminal or a broken redactor must not end the work that wrote a line.
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
    ...(ids === "" ? [] : [paint("gray", ids)]),
  ].join(" ");
}

function showsColors(stream: NonNullable<ConsoleTracerOptions["stream"]>): boolean {
  if (stream.isTTY !== true) return false;
  return "hasColors" in stream && typeof stream.hasColors === "function" ? stream.hasColors() === true : true;
}
