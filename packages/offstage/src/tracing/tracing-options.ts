// How spans are recorded and where they go: the options that users write, and the settings that every span carries.

import { checkOptions, type OptionRules, someFunction, yesOrNo } from "../base/options.ts";
import { warn } from "../base/warn.ts";
import { messageOf } from "../errors.ts";
import type { SpanData } from "./span-data.ts";
import { isBridge, type SpanBridge, type SpanExporter, type TraceInfo } from "./span-exporter.ts";

/** Selects the traces to record: a share from 0 to 1, decided by trace id, or a function. */
export type Sampler = number | ((trace: TraceInfo) => boolean);

/** Called with an error and the name of its source. */
export type TracingErrorHandler = (error: unknown, source: string) => void;

export interface TracingOptions {
  /** False records nothing. Off at any level (process, trace, agent, run) is off below it. Default true. */
  readonly enabled?: boolean | undefined;
  /** The exporters of ended spans, in place of those of the level above. */
  readonly exporters?: readonly SpanExporter[] | undefined;
  /** Which traces are recorded. Default 1: all. */
  readonly sample?: Sampler | undefined;
  /** Keep prompts, answers, arguments and results in spans. Default false. */
  readonly content?: boolean | undefined;
  /** Called when an exporter or a sampler fails. Default: prints a warning, rate-limited. */
  readonly onError?: TracingErrorHandler | undefined;
}

/** `TracingOptions` with every default filled in. Immutable; spans share them. */
export interface TraceSettings {
  readonly recording: boolean;
  readonly content: boolean;
  readonly sample: Sampler;
  readonly exporters: readonly SpanExporter[];
  /** The first exporter that is a bridge, if any. */
  readonly bridge: SpanBridge | undefined;
  /** Never throws. */
  readonly onError: TracingErrorHandler;
  /** Lists that every ended span is appended to: one for the journal of each enclosing run. */
  readonly kept: readonly EndedSpans[];
}

/** Spans that have ended, as plain data. */
export type EndedSpans = SpanData[];

/** The settings before `configureTracing`: record everything, export nothing. */
export function initialSettings(): TraceSettings {
  const onError = printErrors();
  return { recording: true, content: false, sample: 1, exporters: [], bridge: undefined, onError, kept: [] };
}

/** Applies `options` to the settings of the level above. */
export function refine(settings: TraceSettings, options: TracingOptions | false): TraceSettings {
  if (options === false || options.enabled === false || !settings.recording) return mute(settings);
  const { content = settings.content, sample = settings.sample, exporters = settings.exporters, onError } = options;
  return {
    recording: true,
    content,
    sample,
    exporters,
    bridge: exporters.find(isBridge),
    onError: onError === undefined ? settings.onError : guardHandler(onError),
    // Exporters named at this level replace the journal of the level above, too.
    kept: options.exporters === undefined ? settings.kept : [],
  };
}

/** The same settings, recording nothing. */
export function mute(settings: TraceSettings): TraceSettings {
  return { ...settings, recording: false, bridge: undefined };
}

/** The rules of `TracingOptions`. */
export const tracingRules: OptionRules = {
  enabled: yesOrNo,
  content: yesOrNo,
  sample: {
    isFit: (value) => typeof value === "function" || (typeof value === "number" && value >= 0 && value <= 1),
    words: "a share from 0 to 1, or a function of the trace",
  },
  exporters: {
    isFit: (value) => Array.isArray(value) && value.every((each) => typeof each?.export === "function"),
    words: 'a list of span exporters, each with an "export" method',
  },
  onError: someFunction,
};

/** Throws `invalid-argument` for unknown or unfit tracing options. A boolean turns tracing on or off. */
export function checkTracing(options: TracingOptions | boolean): void {
  if (typeof options !== "boolean") checkOptions(options, tracingRules, "tracing");
}

/** Passes an ended span to every exporter. Never throws and waits for none of them. */
export function exportSpan(span: SpanData, { exporters, onError }: TraceSettings): void {
  for (const exporter of exporters) void exportTo(exporter, span, onError);
}

async function exportTo(exporter: SpanExporter, span: SpanData, onError: TracingErrorHandler): Promise<void> {
  try {
    await exporter.export([span]);
  } catch (error) {
    onError(error, exporter.name);
  }
}

/** Calls `notice` with the bridge, if there is one. Never throws. */
export function notifyBridge({ bridge, onError }: TraceSettings, notice: (bridge: SpanBridge) => void): void {
  if (bridge === undefined) return;
  try {
    notice(bridge);
  } catch (error) {
    onError(error, "bridge");
  }
}

/** Wraps a handler so that its own failure, thrown or rejected, is ignored: it has nowhere else to go. */
export function guardHandler(onError: TracingErrorHandler): TracingErrorHandler {
  return async (error, source) => {
    try {
      await onError(error, source);
    } catch {
      // A failing error handler must not break a run.
    }
  };
}

/** A handler that prints the 1st, 2nd, 4th, 8th … error, so that a broken exporter cannot flood the terminal. */
export function printErrors(): TracingErrorHandler {
  let failures = 0;
  return (error, source) => {
    failures += 1;
    const isPowerOfTwo = (failures & (failures - 1)) === 0;
    if (isPowerOfTwo) warn(`"${source}" failed (${failures} so far): ${messageOf(error)}`, { type: "OffstageTracing" });
  };
}
